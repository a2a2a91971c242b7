import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The version of this package, from the checkout or from the installed tarball. */
export const version: string = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')).version
