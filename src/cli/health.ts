/** How long an answer may take, in milliseconds. */
const TIMEOUT_MS = 4000

/**
 * Asks a service on this machine whether it runs, for the health check of a container, which has no curl.
 * @returns the exit code.
 */
export async function checkHealth(port: string | undefined): Promise<number> {
  const url = `http://127.0.0.1:${port || '4000'}/healthz`
  const isHealthy = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) }).then(
    ({ ok }) => ok,
    () => false,
  )
  return isHealthy ? 0 : 1
}
