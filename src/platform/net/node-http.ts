/**
 * Node's `http`. To import it from an ES module reads all of its exports, and some of them load undici, which nothing else
 * needs: 3 % of the time that a start takes, and memory.
 */
export const http = process.getBuiltinModule('node:http')
