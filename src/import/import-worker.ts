/** Reads the files of other tools in a worker thread: one with 500 monitors takes a tenth of a second, a hostile one longer. */
import { answerTasks } from '../core/task-worker.ts'
import type { ImportAnswer, ImportTask } from './import-thread.ts'
import { translate, translateDatabase, writeTranslation } from './sources.ts'
import { Unreadable } from './translation.ts'

answerTasks((task: ImportTask): ImportAnswer => {
  if ('write' in task) return writeTranslation(task.write)
  try {
    if ('database' in task) return translateDatabase(task.database)
    return translate(task.source, Buffer.from(task.translate).toString('utf8'))
  } catch (error) {
    if (error instanceof Unreadable) return { unreadable: error.message }
    throw error
  }
})
