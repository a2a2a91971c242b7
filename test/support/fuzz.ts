import fc from 'fast-check'

// The same inputs at every run, so that a failure comes from the change under test. The long mode draws new ones, and a
// failure prints their seed.
if (!process.env.TIDINGS_LONG) fc.configureGlobal({ seed: 20_261_115 })

export default fc
