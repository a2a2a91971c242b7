import { type Detail, Refusal } from '../../platform/errors.ts'

const longest = 500

/** Collects the faults of a credential, so that one refusal names all of them. Never quotes a secret. */
export function createFaults() {
  const details: Detail[] = []
  return {
    add(path: string, message: string): undefined {
      details.push({ path, message })
      return undefined
    },
    /** Reads a required text field that must be short and match the pattern. */
    text(value: unknown, path: string, pattern: RegExp, rule: string): string | undefined {
      if (value === undefined || value === null || value === '') return this.add(path, `is missing; it ${rule}`)
      if (typeof value !== 'string') return this.add(path, 'must be a string')
      if (value.length > longest) return this.add(path, rule)
      const trimmed = value.trim()
      return pattern.test(trimmed) ? trimmed : this.add(path, rule)
    },
    none: () => details.length === 0,
    /** Throws if there are faults. */
    refuse(): void {
      const [first] = details
      if (first) throw new Refusal('invalid_credential', `${first.path}: ${first.message}`, details)
    }
  }
}

export type Faults = ReturnType<typeof createFaults>
