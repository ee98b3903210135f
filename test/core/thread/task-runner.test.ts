import { expect, test } from 'vitest'
import { createTaskRunner, type WorkerEvents } from '../../../src/core/thread/task-runner.ts'

const limits = { timeoutMs: 1000, maxWaiting: 8, maxWaitingPerOwner: 8 }

/** A worker that answers at once. */
const answering = ({ onMessage }: WorkerEvents<string>) => {
  queueMicrotask(() => onMessage(''))
  const send = (input: string) => queueMicrotask(() => onMessage(`${input}!`))
  return { send, ref() {}, unref() {}, async terminate() {} }
}

test('tasks fail while no worker can start, and later ones are done', async () => {
  let starts = 0
  const tasks = createTaskRunner<string, string>(limits, (events) => {
    starts += 1
    if (starts <= 2) throw new Error('spawn ENOMEM')
    return answering(events)
  })
  await expect(tasks.run('a', 'one')).rejects.toThrow('ENOMEM')
  await expect(tasks.run('a', 'two')).rejects.toThrow('ENOMEM')
  expect(await tasks.run('a', 'three')).toBe('three!')
  await tasks.close()
})

test('a worker that ends before it is ready fails its task, and the next one gets another worker', async () => {
  let starts = 0
  const tasks = createTaskRunner<string, string>(limits, (events) => {
    starts += 1
    if (starts > 1) return answering(events)
    queueMicrotask(() => events.onEnd(new Error('spawn EMFILE')))
    return { send() {}, ref() {}, unref() {}, async terminate() {} }
  })
  const results = await Promise.allSettled([tasks.run('a', 'one'), tasks.run('a', 'two')])
  expect(results).toMatchObject([{ reason: new Error('spawn EMFILE') }, { value: 'two!' }])
  await tasks.close()
})
