import { createTaskThread } from '../../core/thread/task-thread.ts'
import { SECOND } from '../../core/time.ts'
import type { JsonAssertion } from './json-assertion.ts'
import { jsonMismatch } from './json-assertion.ts'
import { PatternRefused } from './pattern.ts'

/** A task of the thread: checking an assertion, or matching a regular expression. */
export type TextCheck =
  | { readonly assertion: JsonAssertion; readonly text: string }
  | { readonly pattern: string; readonly text: string }

/** The answer of the thread. */
export type TextAnswer = string | null | boolean | { readonly refused: string }

/** The maximum length of a text to check on the main thread, in characters. The worst one takes about 3 ms. */
const MAX_INLINE_LENGTH = 32 * 1024

const thread = createTaskThread<TextCheck, TextAnswer>('monitoring/probe/json-worker', {
  // The worst megabyte of JSON takes a twentieth of this time. Slower regular expressions are aborted.
  timeoutMs: 2 * SECOND,
  maxWaiting: 200,
  maxWaitingPerOwner: 20,
  resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 },
})

/**
 * Returns how a text fails the assertion; null: it passes. Checks long texts and regular expressions in a thread.
 * @throws Unavailable or TaskTimeout when the thread is too busy or the text takes too long, and PatternRefused.
 */
export async function checkJson(assertion: JsonAssertion, text: string, owner: string): Promise<string | null> {
  if (assertion.matches === undefined && text.length <= MAX_INLINE_LENGTH) return jsonMismatch(assertion, text)
  const answer = await asked(owner, { assertion, text })
  return typeof answer === 'string' ? answer : null
}

/**
 * Returns whether a regular expression matches a text. Runs in a thread.
 * @throws Unavailable, TaskTimeout and PatternRefused like `checkJson`.
 */
export async function matchesPattern(pattern: string, text: string, owner: string): Promise<boolean> {
  return (await asked(owner, { pattern, text })) === true
}

async function asked(owner: string, check: TextCheck): Promise<string | null | boolean> {
  const answer = await thread.run(owner, check)
  if (typeof answer === 'object' && answer !== null) throw new PatternRefused(answer.refused)
  return answer
}

/** Ends the thread when the service stops. */
export const closeJsonThread = thread.close
