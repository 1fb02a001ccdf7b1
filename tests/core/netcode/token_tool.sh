#!/usr/bin/env bash
# causeway-token, given as the arguments (a program that runs it may come first): its tokens have what
# was asked for, and there is one clear line for whatever is wrong.
set -euo pipefail
tool=("$@")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset CAUSEWAY_KEY
failed=0

# expect CODE TEXT ARGUMENTS...: exit code, and one line on standard error with the text in it.
expect() {
    local code=$1 text=$2 got=0
    shift 2
    "${tool[@]}" "$@" >"$folder/out" 2>"$folder/err" || got=$?
    if [ "$got" != "$code" ] || ! grep -qF -- "$text" "$folder/err" || [ -s "$folder/out" ]; then
        echo "causeway-token $*: exit $got, said: $(cat "$folder/err")" >&2
        failed=1
    fi
}

"${tool[@]}" --help | grep -q -- --protocol-id
"${tool[@]}" --version | grep -q '^causeway-token [0-9]'
"${tool[@]}" --new-key >"$folder/key"
grep -qE '^[0-9a-f]{64}$' "$folder/key"
[ "$("${tool[@]}" --new-key)" != "$(cat "$folder/key")" ]

basic=(--protocol-id 0x1122 --client-id 7 --server 127.0.0.1:40000)
[ "$("${tool[@]}" --key "$folder/key" "${basic[@]}" --binary | wc -c)" = 2048 ]
[ "$("${tool[@]}" --key "$folder/key" "${basic[@]}" | base64 -d | head -c 12)" = 'NETCODE 1.02' ]
# from the environment; protocol id and lifetime where the format has them
CAUSEWAY_KEY=$(cat "$folder/key") "${tool[@]}" "${basic[@]}" --life 100 --server '[::1]:5' --binary >"$folder/token"
read -r protocol create expire < <(od -An -v -t u8 -j 13 -N 24 -w24 "$folder/token")
[ "$protocol" = $((0x1122)) ] && [ $((expire - create)) = 100 ]

# made without a key; whether servers take it is core.insecure's
[ "$("${tool[@]}" --insecure "${basic[@]}" --binary | wc -c)" = 2048 ]

expect 1 'no key' "${basic[@]}"
expect 1 'cannot open the key file' --key "$folder/none" "${basic[@]}"
echo abc >"$folder/short"
expect 1 '64 hexadecimal digits' --key "$folder/short" "${basic[@]}"
printf '%064d' 0 >"$folder/zero"
expect 1 'all zero' --key "$folder/zero" "${basic[@]}"
expect 2 'needed' --key "$folder/key" --client-id 1
expect 2 'ADDRESS:PORT' --key "$folder/key" --server game.example:1
expect 2 'ADDRESS:PORT' --key "$folder/key" --server 127.0.0.1
expect 2 'whole number' --key "$folder/key" --client-id 1x
expect 2 'whole number' --key "$folder/key" --client-id -1
expect 2 '240 bytes' --key "$folder/key" --user-data xyz
expect 2 'argument' --key "$folder/key" "${basic[@]}" extra
expect 2 '--help' --nonsense
exit $failed
