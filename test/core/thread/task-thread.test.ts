import { afterAll, describe, expect, test } from 'vitest'
import { Unavailable } from '../../../src/core/errors.ts'
import { TaskTimeout } from '../../../src/core/thread/task-runner.ts'
import { createTaskThread } from '../../../src/core/thread/task-thread.ts'

const limits = { timeoutMs: 1000, maxWaiting: 8, maxWaitingPerOwner: 3 }
const thread = createTaskThread<string, string>('core/markdown/markdown-worker', limits)
afterAll(() => thread.close())

/** Takes minutes. */
const bomb = 'www.a_'.repeat(20_000)

describe('a task thread', () => {
  test('alternates between owners', async () => {
    const order: string[] = []
    const run = (owner: string, text: string) => thread.run(owner, text).then((html) => order.push(html))
    await Promise.all([...['1', '2', '3', '4'].map((n) => run('busy', n)), run('quiet', 'a'), run('quiet', 'b')])
    expect(order).toEqual(['1', '2', 'a', '3', 'b', '4'].map((text) => `<p>${text}</p>`))
  })

  test('ends a task after its time limit and continues with the others', async () => {
    const late = thread.run('hostile', bomb)
    const others = Promise.all([thread.run('hostile', 'after'), thread.run('other', '*other*')])
    await expect(late).rejects.toThrow(TaskTimeout)
    expect(await others).toEqual(['<p>after</p>', '<p><em>other</em></p>'])
  })

  test('limits waiting tasks per owner and in total', async () => {
    const running = thread.run('first', 'x')
    const own = [1, 2, 3].map(() => thread.run('busy', 'x'))
    await expect(thread.run('busy', 'x')).rejects.toThrow(Unavailable)
    const others = ['a', 'b', 'c', 'd', 'e'].map((owner) => thread.run(owner, 'x'))
    await expect(thread.run('f', 'x')).rejects.toThrow(Unavailable)
    expect(await Promise.all([running, ...own, ...others])).toEqual(Array(9).fill('<p>x</p>'))
  })

  test('fails a task that throws and waiting tasks on close, then restarts', async () => {
    await expect(thread.run('a', null as unknown as string)).rejects.toThrow()
    const open = Promise.allSettled([thread.run('a', bomb), thread.run('b', 'x')])
    await thread.close()
    expect(await open).toMatchObject([{ reason: expect.any(Unavailable) }, { reason: expect.any(Unavailable) }])
    expect(await thread.run('a', 'x')).toBe('<p>x</p>')
  })
})
