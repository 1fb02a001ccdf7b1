# The bill of materials of what is built here, as CycloneDX writes it in JSON.

# cw_add_part(zlib 1.3 Zlib): what others have made, its version, and its license by the name SPDX gives it.
function(cw_add_part name version license)
    string(REGEX MATCH "^[0-9a-z.]+" version ${version}) # Debian's libwebsockets says 4.1.6-
    set_property(GLOBAL APPEND PROPERTY CAUSEWAY_PARTS "{
      \"type\": \"library\",
      \"bom-ref\": \"${name}\",
      \"name\": \"${name}\",
      \"version\": \"${version}\",
      \"licenses\": [{ \"license\": { \"id\": \"${license}\" } }],
      \"purl\": \"pkg:generic/${name}@${version}\"
    }")
    set_property(GLOBAL APPEND PROPERTY CAUSEWAY_PART_NAMES "\"${name}\"")
endfunction()

function(cw_write_sbom file)
    get_property(parts GLOBAL PROPERTY CAUSEWAY_PARTS)
    get_property(names GLOBAL PROPERTY CAUSEWAY_PART_NAMES)
    list(JOIN parts ",\n    " parts)
    list(JOIN names ", " names)
    file(CONFIGURE OUTPUT ${file} @ONLY CONTENT [[
{
  "bomFormat": "CycloneDX",
  "specVersion": "1.5",
  "version": 1,
  "metadata": {
    "component": {
      "type": "library",
      "bom-ref": "causeway",
      "name": "causeway",
      "version": "@PROJECT_VERSION@",
      "licenses": [{ "license": { "id": "MIT" } }],
      "purl": "pkg:generic/causeway@@PROJECT_VERSION@"
    }
  },
  "components": [
    @parts@
  ],
  "dependencies": [{ "ref": "causeway", "dependsOn": [@names@] }]
}
]])
endfunction()
