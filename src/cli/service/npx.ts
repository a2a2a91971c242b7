const lookMs = 500

/**
 * Under npx a shell stands between npm and us. A SIGTERM for npx ends that shell, which does not pass it on, and would
 * leave the service running with nobody to stop it. So the end of that shell counts as the signal.
 */
export function stopWithNpx({ npm_lifecycle_event, npm_lifecycle_script = '' }: NodeJS.ProcessEnv): void {
  // A program that was itself run by npx may start us and end: that is no reason to stop.
  if (npm_lifecycle_event !== 'npx' || !/^\W*tidings\b/.test(npm_lifecycle_script)) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, lookMs)
  timer.unref()
}
