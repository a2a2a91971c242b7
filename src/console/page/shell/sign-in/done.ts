import type { Identity } from '../../api/session.ts'

/** Opens the console for a browser that has signed in. */
export type Done = (identity: Identity) => void
