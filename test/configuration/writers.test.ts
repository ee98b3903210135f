// @slow
import { afterAll, expect, test } from 'vitest'
import { unlockManagedObject } from '../../src/account/managed-object.ts'
import { applyConfiguration, planConfiguration } from '../../src/configuration/apply.ts'
import { closeYamlProcess } from '../../src/configuration/yaml-process.ts'
import { Conflict, ManagedByFile } from '../../src/core/errors.ts'
import { unavailability } from '../../src/database/connection/unavailable.ts'
import { updateMonitor } from '../../src/monitoring/monitor/monitor.ts'
import { createService, updateService } from '../../src/status/service/service.ts'
import { testDatabase } from '../support/database.ts'
import { configuredIn } from './setup.ts'

const { prisma, ...database } = await testDatabase()
const configured = configuredIn({ prisma, ...database })
afterAll(closeYamlProcess)

const COUNT = 6
const ROUNDS = 2

/** Returns a file whose objects all contain its version. */
function fileOf(version: string) {
  const all = Array.from({ length: COUNT }, (_, index) => index)
  const services = all.map((index) => `  s${index}: { name: S${index} ${version} }`)
  const monitors = all.map(
    (index) =>
      `  m${index}: { name: M${index} ${version}, service: s${index}, ping: { host: ${version}.example.com } }`,
  )
  return ['allclear: 1', 'services:', ...services, 'monitors:', ...monitors].join('\n')
}

test('concurrent applies and edits: each apply matches its plan or is refused completely', async () => {
  const tenant = await configured.tenant()
  const ctx = configured.ctx(tenant)
  await configured.apply(tenant, fileOf('v0'))
  const rows = await prisma.managedObject.findMany({ where: { organizationId: tenant.id } })
  const idOf = (key: string) => rows.find((row) => row.key === key)?.objectId ?? ''
  const where = { organizationId: tenant.id }

  /** Reads all versions in one statement, except that of the edited service. */
  async function versions() {
    const found = await prisma.$queryRaw<{ name: string }[]>`
      SELECT name FROM "Service" WHERE "organizationId" = ${tenant.id} AND id <> ${idOf('s0')}
      UNION ALL SELECT name FROM "Monitor" WHERE "organizationId" = ${tenant.id}`
    return new Set(found.map(({ name }) => name.split(' ')[1]).filter((version) => version !== 'Free'))
  }

  const outcomes: string[] = []
  let newest = 'v0'
  async function apply(version: string) {
    const yaml = fileOf(version)
    try {
      const { hash, changes } = await planConfiguration(ctx, { yaml })
      const applied = await applyConfiguration(ctx, { yaml, planHash: hash })
      expect(applied.changes).toEqual(changes)
      outcomes.push('applied')
      newest = version
    } catch (error) {
      // A busy server may time out while waiting for the others.
      if (unavailability(error) === null) expect(error).toBeInstanceOf(Conflict)
      outcomes.push('refused')
    }
  }
  /** Edits members that the file does not set, and unlocks and edits members that it sets. */
  async function edit(round: string) {
    await updateService(ctx, { id: idOf('s1'), description: round })
    await updateMonitor(ctx, { id: idOf('m1'), failureThreshold: 2 + (round.charCodeAt(1) % 3) })
    await createService(ctx, { name: `Own Free ${round}` })
    await unlockManagedObject(ctx, idOf('s0'))
    await updateService(ctx, { id: idOf('s0'), name: `Edited ${round}` }).catch((error: unknown) =>
      // Another apply happened in between.
      expect(error).toBeInstanceOf(ManagedByFile),
    )
  }

  for (let round = 1; round <= ROUNDS; round++) {
    const writers = [1, 2, 3].map((each) => apply(`v${round}-${each}`))
    const all = Promise.all([...writers, edit(`r${round}`), edit(`q${round}`)])
    let isOver = false
    const over = all.finally(() => {
      isOver = true
    })
    while (!isOver) expect((await versions()).size).toBe(1)
    await over
    expect([...(await versions())]).toEqual([newest])
    expect(await prisma.managedObject.count({ where })).toBe(2 * COUNT)
  }
  expect(outcomes).toHaveLength(3 * ROUNDS)
  // Without concurrent changes, the plan is applied.
  await configured.apply(tenant, fileOf('last'))
  expect(await configured.plan(tenant, fileOf('last'))).toMatchObject({ changes: [], drift: [] })
  const names = await prisma.service.findMany({ where, select: { name: true } })
  expect(names.filter(({ name }) => name.endsWith(' last'))).toHaveLength(COUNT)
}, 120_000)
