/**
 * Parses files of other tools in a separate process: a file with 500 monitors takes 100 ms, and a hostile one can exhaust
 * the memory.
 */
import { readFileSync } from 'node:fs'
import { answerTasks } from '../core/thread/task-worker.ts'
import type { ImportAnswer, ImportTask } from './import-process.ts'
import { translate, translateDatabase, writeTranslation } from './sources.ts'
import { Unreadable } from './translation.ts'

answerTasks((task: ImportTask): ImportAnswer => {
  if ('write' in task) return writeTranslation(task.write)
  try {
    if ('database' in task) return translateDatabase(task.installation, task.database)
    return translate(task.installation, readFileSync(task.text, 'utf8'))
  } catch (error) {
    if (error instanceof Unreadable) return { unreadable: error.message }
    throw error
  }
})
