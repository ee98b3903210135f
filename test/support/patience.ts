import { configureGlobal } from 'fast-check'
import { vi } from 'vitest'
import { sampleNumber } from './runs.ts'

/** The timeout of waits: they are usually short, but not on a busy machine. */
const PATIENCE_MS = 60_000
const INTERVAL_MS = 20

type Options = number | { readonly timeout?: number; readonly interval?: number }

/** Overrides every timeout, because no test depends on one. */
function patient(options: Options = {}): { timeout: number; interval: number } {
  const { interval = INTERVAL_MS } = typeof options === 'number' ? {} : options
  return { timeout: PATIENCE_MS, interval }
}

// Once per worker: this file runs before each test file, in the same process.
const shared = globalThis as { isPatient?: boolean }
if (!shared.isPatient) {
  shared.isPatient = true
  configureGlobal({ seed: sampleNumber })
  const { waitFor, waitUntil } = vi
  vi.waitFor = (callback, options) => waitFor(callback, patient(options))
  vi.waitUntil = (callback, options) => waitUntil(callback, patient(options))
}
