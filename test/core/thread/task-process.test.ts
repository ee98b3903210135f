// @slow
import { afterAll, describe, expect, test } from 'vitest'
import type { YamlTask } from '../../../src/configuration/yaml-process.ts'
import type { YamlText } from '../../../src/configuration/yaml-text.ts'
import { createTaskProcess, TaskOutOfMemory } from '../../../src/core/thread/task-process.ts'
import { TaskTimeout } from '../../../src/core/thread/task-runner.ts'
import type { ImportAnswer, ImportTask } from '../../../src/import/import-process.ts'

const limits = { timeoutMs: 20_000, maxWaiting: 8, maxWaitingPerOwner: 3 }
const tasks = createTaskProcess<YamlTask, YamlText | string>('configuration/yaml-worker', { ...limits, maxHeapMb: 64 })
afterAll(tasks.close)

const exhausting = { read: `a: [${'{},'.repeat(200_000)}]` }

describe('a task process', () => {
  test('answers, also with maps', async () => {
    expect(await tasks.run('a', { read: 'a:\n  b: 1' })).toEqual({
      value: { a: { b: 1 } },
      lines: new Map([
        ['a', 1],
        ['a\0b', 2],
      ]),
    })
    expect(await tasks.run('a', { write: { comment: '', value: { a: 1 } } })).toBe('a: 1\n')
  })

  test('ends when its memory is exhausted, and the next task gets another one', async () => {
    const failed = tasks.run('hostile', exhausting)
    const other = tasks.run('other', { read: 'a: 1' })
    await expect(failed).rejects.toThrow(TaskOutOfMemory)
    expect(await other).toMatchObject({ value: { a: 1 } })
  })

  test('ends a task after its time limit', async () => {
    const inHaste = createTaskProcess<YamlTask, YamlText>('configuration/yaml-worker', {
      ...limits,
      timeoutMs: 1,
      maxHeapMb: 256,
    })
    await expect(inHaste.run('a', exhausting)).rejects.toThrow(TaskTimeout)
    await inHaste.close()
  })

  test('reports an error of the task', async () => {
    const files = createTaskProcess<ImportTask, ImportAnswer>('import/import-worker', { ...limits, maxHeapMb: 64 })
    const task = { text: '/does/not/exist', installation: { source: 'gatus', name: '' } } as const
    await expect(files.run('a', task)).rejects.toThrow(/code 1: (?:.|\n)*ENOENT/)
    await files.close()
  })

  test('does not outlive its runner', async () => {
    const closing = createTaskProcess<YamlTask, YamlText>('configuration/yaml-worker', { ...limits, maxHeapMb: 64 })
    const unfinished = closing.run('a', { read: 'a: 1' })
    unfinished.catch(() => {})
    await closing.close()
    await expect(unfinished).rejects.toThrow(/stopping/)
    expect(await closing.run('a', { read: 'a: 1' })).toMatchObject({ value: { a: 1 } })
    await closing.close()
  })
})
