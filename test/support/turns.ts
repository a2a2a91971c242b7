const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/**
 * Runs `work` and returns the longest turn of the event loop meanwhile, in ms of processor time: the time that other
 * requests had to wait, whatever the load of the machine. The service runs in the thread of its test.
 */
export async function longestTurn<Result>(work: () => Promise<Result>): Promise<{ result: Result; turnMs: number }> {
  let turnMs = 0
  let last = cpuMs()
  const look = () => {
    const now = cpuMs()
    turnMs = Math.max(turnMs, now - last)
    last = now
  }
  // After each turn that takes a millisecond. An immediate would keep the loop, and a processor, busy while it waits.
  const timer = setInterval(look, 1)
  try {
    const result = await work()
    look()
    return { result, turnMs }
  } finally {
    clearInterval(timer)
  }
}
