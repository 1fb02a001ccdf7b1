#!/usr/bin/env bash
# record_tool.sh causeway-record RECORDING: the tool prints what a recording of long ago tells, which
# later versions of the library must still read, and refuses other files with one clear line.
set -euo pipefail
tool=$1
recording=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$tool" "$recording" >"$folder/lines"
diff - <(grep -v ' \(sent\|received\|acked\) ' "$folder/lines") <<'END'
    0.000000 window 17024 bytes, 0 in flight, held back by nothing
    0.183332 lost 0
    0.833333 lost 40
    1.000000 note by?WebRTC
    1.000000 window 17024 bytes, 0 in flight, held back by nothing
    1.099999 lost 56
    1.533333 lost 81
packets: 120 sent, 109 acked, 4 lost; 114 received, 3 missed
bytes: 4326 sent, 3929 received
dropped: 3 duplicate, 0 stale, 0 malformed
rtt: 112.2 ms, at least 100.0, +- 9.6; jitter 11.4 ms
loss: 1.9 % sent, 1.9 % received
END
diff <(tail -5 "$folder/lines") <("$tool" --stats "$recording")

head -c 1000 "$recording" >"$folder/damaged"
echo 'no recording' >"$folder/other"
for file in damaged other; do
    if "$tool" "$folder/$file" >/dev/null 2>"$folder/said"; then
        echo "causeway-record takes the file $file" >&2
        exit 1
    fi
    grep -q "^$folder/$file: .*\(damaged\|no recording\)$" "$folder/said"
done
