import fc from 'fast-check'

// The same inputs at every run, so that a change is judged by what it changed. The long mode draws new ones, and a failure
// tells their seed.
if (!process.env.TIDINGS_LONG) fc.configureGlobal({ seed: 20_261_115 })

export default fc
