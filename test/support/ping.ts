import { spawnSync } from 'node:child_process'

/**
 * Returns the path of the system's ping. Call this first in a test that needs it: where it is missing or not permitted,
 * the test is skipped with the reason, or fails where CI is set.
 */
export function requirePing(test: { skip(note?: string): void }): string {
  const found = spawnSync('sh', ['-c', 'command -v ping && ping -n -c 1 127.0.0.1'], {
    encoding: 'utf8',
    timeout: 5000,
  })
  const [path = ''] = found.stdout.split('\n')
  if (found.status === 0) return path
  const missing = path === '' ? 'ping is not installed' : 'ping may not send'
  if (process.env['CI']) throw new Error(missing)
  test.skip(missing)
  return path
}
