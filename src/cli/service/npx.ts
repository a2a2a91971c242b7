const pollMs = 500

/**
 * npx runs the service below a shell. A SIGTERM for npx ends that shell, which does not forward it, and the service would
 * run on. So the end of the shell counts as the signal.
 */
export function stopWithNpx({ npm_lifecycle_event, npm_lifecycle_script = '' }: NodeJS.ProcessEnv): void {
  // A program that npx runs may start the service and end: that must not stop the service.
  if (npm_lifecycle_event !== 'npx' || !/^\W*tidings\b/.test(npm_lifecycle_script)) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, pollMs)
  timer.unref()
}
