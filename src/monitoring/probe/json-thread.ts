import { createTaskThread } from '../../core/task-thread.ts'
import { SECOND } from '../../core/time.ts'
import type { JsonAssertion } from './json-assertion.ts'
import { jsonMismatch } from './json-assertion.ts'

/** What the thread is asked. */
export interface JsonCheck {
  readonly assertion: JsonAssertion
  readonly text: string
}

/** The maximum length of texts read without a thread, in characters: the worst one takes about 3 ms. */
const MAX_INLINE_LENGTH = 32 * 1024

const thread = createTaskThread<JsonCheck, string | null>('monitoring/probe/json-worker', {
  // The worst megabyte takes a twentieth of it.
  timeoutMs: 2 * SECOND,
  maxWaiting: 200,
  maxWaitingPerOwner: 20,
  resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 },
})

/**
 * Returns how a text fails the assertion; null: it passes. Long texts are read in a thread.
 * @throws Unavailable or TaskTimeout when the thread is too busy, or the text takes too long.
 */
export async function checkJson(assertion: JsonAssertion, text: string, owner: string): Promise<string | null> {
  return text.length <= MAX_INLINE_LENGTH ? jsonMismatch(assertion, text) : thread.run(owner, { assertion, text })
}

/** Ends the thread, when the service stops. */
export const closeJsonThread = thread.close
