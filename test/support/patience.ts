import { vi } from 'vitest'

/** What a test waits for comes in a moment, and on a machine that has much else to do, later. */
const PATIENCE_MS = 60_000
const INTERVAL_MS = 20

type Options = number | { readonly timeout?: number; readonly interval?: number }

/** No wait ends sooner, whatever the test says: none goes by how long it takes. */
function patient(options: Options = {}): { timeout: number; interval: number } {
  const { interval = INTERVAL_MS } = typeof options === 'number' ? {} : options
  return { timeout: PATIENCE_MS, interval }
}

// Once in a worker: this file runs before each test file, in the same process.
const shared = globalThis as { isPatient?: boolean }
if (!shared.isPatient) {
  shared.isPatient = true
  const { waitFor, waitUntil } = vi
  vi.waitFor = (callback, options) => waitFor(callback, patient(options))
  vi.waitUntil = (callback, options) => waitUntil(callback, patient(options))
}
