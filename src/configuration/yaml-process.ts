import type { Issue } from '../core/errors.ts'
import { createTaskProcess, TaskOutOfMemory } from '../core/thread/task-process.ts'
import { TaskTimeout } from '../core/thread/task-runner.ts'
import { SECOND } from '../core/time.ts'
import { invalid } from '../core/validation.ts'
import type { YamlText } from './yaml-text.ts'

/** A task of the process. */
export type YamlTask =
  | { readonly read: string }
  | { readonly write: { readonly comment: string; readonly value: unknown } }

const tasks = createTaskProcess<YamlTask, YamlText | readonly Issue[] | string>('configuration/yaml-worker', {
  // The largest file takes a tenth of this.
  timeoutMs: 5 * SECOND,
  maxWaiting: 50,
  maxWaitingPerOwner: 5,
  // The parser takes a kilobyte for each value: a megabyte of brackets exhausts any limit.
  maxHeapMb: 256,
})

/** Parses YAML in a process. @throws Invalid with the line of each problem, and Unavailable if it is too busy. */
export async function readYamlText(text: string, owner: string): Promise<YamlText> {
  const read = await tasks.run(owner, { read: text }).catch((error: unknown) => {
    if (error instanceof TaskTimeout) throw invalid([{ path: [], message: 'takes too long to read' }])
    if (error instanceof TaskOutOfMemory) throw invalid([{ path: [], message: 'takes too much memory to read' }])
    throw error
  })
  if (typeof read === 'object' && 'lines' in read) return read
  throw invalid(read as readonly Issue[])
}

/** Writes YAML in a process. @throws Unavailable if it is too busy. */
export async function writeYamlText(comment: string, value: unknown, owner: string): Promise<string> {
  // The process answers a write task with a string.
  return (await tasks.run(owner, { write: { comment, value } })) as string
}

/** Ends the process when the service stops. */
export const closeYamlProcess = tasks.close
