// @slow
import { join } from 'node:path'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { openDatabase } from '../../src/database/client.ts'
import { readEventsAfter } from '../../src/event-log/event.ts'
import { startChild } from '../support/child.ts'
import { copyDataDir, serverDatabase, serverUrl } from '../support/database.ts'
import { newTenant } from '../support/log-writers.ts'
import { silent, temporaryDirectory } from '../support/scratch.ts'

describe('a process that is killed while 50 writers append 1000 events', () => {
  const removals: (() => Promise<void>)[] = []
  afterAll(async () => {
    for (const remove of removals) await remove()
  })

  async function place(): Promise<string> {
    if (serverUrl !== undefined) {
      const { url, remove } = await serverDatabase(serverUrl, inject('databaseTemplate'))
      removals.push(remove)
      return url
    }
    const { path, remove } = await temporaryDirectory()
    removals.push(remove)
    copyDataDir(inject('databaseTemplate'), join(path, 'data'))
    return join(path, 'data')
  }

  test('leaves a log with every acknowledged event, in order and once', async () => {
    const where = await place()
    const open = () =>
      openDatabase({
        dataDir: where,
        databaseUrl: where.startsWith('postgresql:') ? where : undefined,
        log: silent,
      })
    const before = await open()
    const id = await newTenant(before.prisma)
    await before.close()

    const reported: string[] = []
    for (const [run, enough] of [300, 1].entries()) {
      const child = startChild('log-child', [where, id, `run${run}`, '50', '20'])
      expect(await child.line()).toBe('open')
      for (let count = 0; count < enough; count++) reported.push((await child.line()) ?? '')
      await child.kill()
      for (let line = await child.line(); line !== null; line = await child.line()) reported.push(line)
    }

    const after = await open()
    const events = await readEventsAfter(after.prisma, id, 0, 10_000)
    const organization = await after.prisma.organization.findUnique({ where: { id } })
    await after.close()
    const written = events.map(({ subjectId }) => subjectId)
    expect(events.map(({ seq }) => seq)).toEqual(Array.from(events, (_, index) => index + 1))
    expect(organization?.lastSeq).toBe(events.length)
    expect(new Set(written).size).toBe(written.length)
    expect(reported.filter((subject) => !written.includes(subject))).toEqual([])
    expectInOrder(written)
  })
})

/** Asserts that each writer's events are in the order in which it wrote them. */
function expectInOrder(subjects: readonly string[]): void {
  const last = new Map<string, number>()
  for (const subject of subjects) {
    const [, writer = '', number] = /^(.*)-(\d+)$/.exec(subject) ?? []
    expect(Number(number)).toBe((last.get(writer) ?? -1) + 1)
    last.set(writer, Number(number))
  }
}
