// The two fixed tables of HPACK (RFC 7541, appendices A and B).

const names = [
  ':authority',
  ':method=GET',
  ':method=POST',
  ':path=/',
  ':path=/index.html',
  ':scheme=http',
  ':scheme=https',
  ...[200, 204, 206, 304, 400, 404, 500].map((status) => `:status=${status}`),
  ...'accept-charset accept-encoding=gzip,_deflate accept-language accept-ranges accept'.split(' '),
  ...'access-control-allow-origin age allow authorization cache-control content-disposition'.split(' '),
  ...'content-encoding content-language content-length content-location content-range content-type'.split(' '),
  ...'cookie date etag expect expires from host if-match if-modified-since if-none-match if-range'.split(' '),
  ...'if-unmodified-since last-modified link location max-forwards proxy-authenticate'.split(' '),
  ...'proxy-authorization range referer refresh retry-after server set-cookie'.split(' '),
  ...'strict-transport-security transfer-encoding user-agent vary via www-authenticate'.split(' ')
]

export interface Field {
  readonly name: string
  readonly value: string
}

/** Entry 1 is at index 0. */
export const staticTable: readonly Field[] = names.map((text) => {
  const [name, value = ''] = text.split('=') as [string, string?]
  return { name, value: value.replace('_', ' ') }
})

/**
 * The symbols by the length of their Huffman code. The code is canonical: codes of one length follow each other in the
 * order of the symbols, so the lengths determine all of it. 256 is the end of a string, which never occurs in one.
 */
const symbolsByBits: [bits: number, symbols: string][] = [
  [5, '48-50 97 99 101 105 111 115 116'],
  [6, '32 37 45-47 51-57 61 65 95 98 100 102-104 108-110 112 114 117'],
  [7, '58 66-87 89 106 107 113 118-122'],
  [8, '38 42 44 59 88 90'],
  [10, '33 34 40 41 63'],
  [11, '39 43 124'],
  [12, '35 62'],
  [13, '0 36 64 91 93 126'],
  [14, '94 125'],
  [15, '60 96 123'],
  [19, '92 195 208'],
  [20, '128 130 131 162 184 194 224 226'],
  [21, '153 161 167 172 176 177 179 209 216 217 227 229 230'],
  [22, '129 132-134 136 146 154 156 160 163 164 169 170 173 178 181 185-187 189 190 196 198 228 232 233'],
  [23, '1 135 137-141 143 147 149-152 155 157 158 165 166 168 174 175 180 182 183 188 191 197 231 239'],
  [24, '9 142 144 145 148 159 171 206 215 225 236 237'],
  [25, '199 207 234 235'],
  [26, '192 193 200-202 205 210 213 218 219 238 240 242 243 255'],
  [27, '203 204 211 212 214 221-223 241 244-248 250-254'],
  [28, '2-8 11 12 14-21 23-31 127 220 249'],
  [30, '10 13 22 256']
]

export interface Code {
  readonly symbol: number
  readonly bits: number
  readonly code: number
}

export const huffmanCodes: readonly Code[] = makeCodes()

function makeCodes(): Code[] {
  const codes: Code[] = []
  let next = 0
  let before = 0
  for (const [bits, symbols] of symbolsByBits) {
    next <<= bits - before
    before = bits
    for (const range of symbols.split(' ')) {
      const [first, last = first] = range.split('-').map(Number) as [number, number?]
      for (let symbol = first; symbol <= last!; symbol += 1) codes.push({ symbol, bits, code: next++ })
    }
  }
  return codes
}
