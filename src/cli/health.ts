/** The timeout of the request, in milliseconds. */
const TIMEOUT_MS = 4000

/**
 * Checks whether a service runs on this machine, for the health check of a container without curl.
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
