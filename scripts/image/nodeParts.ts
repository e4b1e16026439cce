/** The libraries that are part of node, by their names in `process.versions`. */

export interface NodePart {
  readonly name: string
  /** An expression of SPDX; the texts are in node's LICENSE. */
  readonly license: string
  /** Type, namespace and name of a package URL. */
  readonly purl: string
  /** Vendor and product in the National Vulnerability Database. */
  readonly cpe?: readonly [vendor: string, product: string]
  /** How releases are called where the package URL points; as the version by default. */
  readonly tag?: (version: string) => string
}

const v = (version: string) => `v${version}`

/** A new part of node has to be put in here: the build fails without it. */
export const nodeParts: Readonly<Record<string, NodePart>> = {
  acorn: { name: "acorn", license: "MIT", purl: "npm/acorn" },
  ada: { name: "ada", license: "MIT", purl: "github/ada-url/ada", tag: v },
  amaro: { name: "amaro", license: "MIT AND Apache-2.0", purl: "npm/amaro" },
  ares: { name: "c-ares", license: "MIT", purl: "github/c-ares/c-ares", cpe: ["c-ares", "c-ares"], tag: v },
  brotli: { name: "brotli", license: "MIT", purl: "github/google/brotli", cpe: ["google", "brotli"], tag: v },
  icu: {
    name: "icu",
    license: "Unicode-3.0",
    purl: "github/unicode-org/icu",
    cpe: ["icu-project", "international_components_for_unicode"],
    tag: (version) => `release-${version}`
  },
  llhttp: { name: "llhttp", license: "MIT", purl: "github/nodejs/llhttp", cpe: ["llhttp", "llhttp"], tag: v },
  merve: { name: "merve", license: "MIT", purl: "generic/merve" },
  nbytes: { name: "nbytes", license: "MIT", purl: "generic/nbytes" },
  ncrypto: { name: "ncrypto", license: "MIT", purl: "generic/ncrypto" },
  nghttp2: { name: "nghttp2", license: "MIT", purl: "github/nghttp2/nghttp2", cpe: ["nghttp2", "nghttp2"], tag: v },
  nghttp3: { name: "nghttp3", license: "MIT", purl: "github/ngtcp2/nghttp3", cpe: ["nghttp2", "nghttp3"], tag: v },
  ngtcp2: { name: "ngtcp2", license: "MIT", purl: "github/ngtcp2/ngtcp2", cpe: ["ngtcp2", "ngtcp2"], tag: v },
  openssl: { name: "openssl", license: "Apache-2.0", purl: "generic/openssl", cpe: ["openssl", "openssl"] },
  simdjson: { name: "simdjson", license: "Apache-2.0", purl: "github/simdjson/simdjson", tag: v },
  simdutf: { name: "simdutf", license: "MIT", purl: "github/simdutf/simdutf", tag: v },
  sqlite: { name: "sqlite", license: "blessing", purl: "generic/sqlite", cpe: ["sqlite", "sqlite"] },
  undici: { name: "undici", license: "MIT", purl: "npm/undici", cpe: ["nodejs", "undici"] },
  uv: { name: "libuv", license: "MIT", purl: "github/libuv/libuv", cpe: ["libuv", "libuv"], tag: v },
  uvwasi: { name: "uvwasi", license: "MIT", purl: "github/nodejs/uvwasi", tag: v },
  v8: { name: "v8", license: "BSD-3-Clause", purl: "generic/v8" },
  zlib: { name: "zlib", license: "Zlib", purl: "generic/zlib", cpe: ["zlib", "zlib"] },
  zstd: { name: "zstd", license: "BSD-3-Clause", purl: "github/facebook/zstd", cpe: ["facebook", "zstandard"], tag: v }
}

/** Names in `process.versions` that are no library: node itself, its interfaces, and the data in ICU. */
export const noParts: ReadonlySet<string> = new Set(["cldr", "modules", "napi", "node", "tz", "unicode"])

/** Node's own licence, with those of its parts that have no version of their own. */
export const nodeLicense = "MIT AND Apache-2.0 AND BSD-2-Clause AND BSD-3-Clause AND BlueOak-1.0.0 AND ISC"
