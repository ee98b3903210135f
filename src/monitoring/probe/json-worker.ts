/** Checks JSON assertions in a worker thread: a megabyte of JSON takes up to 0.1 s. */
import { answerTasks } from '../../core/task-worker.ts'
import { jsonMismatch } from './json-assertion.ts'
import type { JsonCheck } from './json-thread.ts'

answerTasks(({ assertion, text }: JsonCheck) => jsonMismatch(assertion, text))
