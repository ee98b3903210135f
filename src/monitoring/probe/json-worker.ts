/**
 * Checks JSON assertions and regular expressions in a worker thread. A megabyte of JSON takes up to 0.1 s, and so does
 * loading the engine of regular expressions.
 */
import { answerTasks } from '../../core/thread/task-worker.ts'
import { jsonMismatch } from './json-assertion.ts'
import type { TextAnswer, TextCheck } from './json-thread.ts'
import { PatternRefused } from './pattern.ts'
import { hasMatch } from './pattern-match.ts'

answerTasks((check: TextCheck): TextAnswer => {
  try {
    if ('pattern' in check) return hasMatch(check.pattern, check.text)
    return jsonMismatch(check.assertion, check.text, hasMatch)
  } catch (error) {
    if (!(error instanceof PatternRefused)) throw error
    return { refused: error.message }
  }
})
