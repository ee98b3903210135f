import { afterAll, describe, expect, test } from 'vitest'
import { createOrganization } from '../../../src/account/organization/organization.ts'
import { createPrivateTargetCheck } from '../../../src/account/private-targets/check.ts'
import type { PermissionCache } from '../../../src/account/private-targets/permission.ts'
import { setPrivateTargets } from '../../../src/account/private-targets/permission.ts'
import type { Listener } from '../../../src/database/connection/notifications.ts'
import type { ChangeContext } from '../../../src/event-log/change.ts'
import { testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { silent } from '../../support/scratch.ts'
import { statementsOf } from '../../support/statements.ts'

const database = await testDatabase()
const { prisma } = database
const operator: ChangeContext & PermissionCache = testContext(prisma, { actor: { kind: 'operator' } })

let milliseconds = 0

/** The check of an instance. */
async function instance(given: { listen?: typeof database.listen; prisma?: typeof prisma; open?: boolean } = {}) {
  const { listen = database.listen, prisma: db = prisma, open = false } = given
  const config = { ALLOW_PRIVATE_NETWORKS: open }
  const parts = { database: { prisma: db, listen }, config, log: silent, clock: () => milliseconds }
  const check = await createPrivateTargetCheck(parts)
  afterAll(() => check.close())
  return check
}

/** The check of an instance whose connection for notifications can go silent. */
async function deafInstance() {
  let hear: Listener = () => {}
  const check = await instance({
    listen: async (_channel, listener) => {
      hear = listener
      return async () => {}
    },
  })
  return { check, hear: (payload: string | null) => hear(payload) }
}

let made = 0

async function tenant(): Promise<string> {
  const given = { name: 'A', slug: `checked-${++made}`, contactEmail: 'a@b.example' }
  return (await createOrganization(operator, given)).organization.id
}

const set = (organizationId: string | null, allowed: boolean, ctx = operator) =>
  setPrivateTargets(ctx, { organizationId, allowed })

describe('a permission', () => {
  test('is read with one statement for all who ask at once, then with none for two seconds', async () => {
    const { check } = await deafInstance()
    const id = await tenant()
    const reads = async () => {
      const texts = await statementsOf(() => Promise.all([check.allows(id), check.allows(id), check.allows(id)]))
      return texts.filter((text) => text.includes('PrivateTargetPermission'))
    }
    expect(await reads()).toHaveLength(1)
    milliseconds += 1999
    expect(await reads()).toEqual([])
    milliseconds += 1
    expect(await reads()).toHaveLength(1)
  })

  test('holds and ends at once on the instance that changes it', async () => {
    const { check } = await deafInstance()
    const id = await tenant()
    const ctx = { ...operator, privateTargets: check }
    for (const allowed of [false, true, false]) {
      await set(id, allowed, ctx)
      expect(await check.allows(id)).toBe(allowed)
    }
    await set(null, true, ctx)
    expect(await Promise.all([check.allows(id), check.allows(null)])).toEqual([true, true])
    await set(null, false, ctx)
    expect(await Promise.all([check.allows(id), check.allows(null)])).toEqual([false, false])
  })

  test('holds and ends on another instance once that is notified, for one organization only', async () => {
    const check = await instance()
    const [acme, other] = [await tenant(), await tenant()]
    const known = () => Promise.all([acme, other].map((id) => check.allows(id)))
    expect(await known()).toEqual([false, false])
    await set(acme, true)
    await expect.poll(known).toEqual([true, false])
    await set(acme, false)
    await expect.poll(known).toEqual([false, false])
    await set(null, true)
    await expect.poll(known).toEqual([true, true])
    await set(null, false)
    await expect.poll(known).toEqual([false, false])
  })

  test('ends after two seconds on an instance that missed the notification', async () => {
    const { check, hear } = await deafInstance()
    const id = await tenant()
    await set(id, true)
    expect(await check.allows(id)).toBe(true)
    await set(id, false)
    milliseconds += 1999
    expect(await check.allows(id)).toBe(true)
    milliseconds += 1
    expect(await check.allows(id)).toBe(false)
    await set(id, true)
    hear(null)
    expect(await check.allows(id)).toBe(true)
  })

  test('that was read before it was withdrawn is not kept', async () => {
    const id = await tenant()
    await set(id, true)
    let read: () => void = () => {}
    const isRead = new Promise<void>((resolve) => {
      read = resolve
    })
    let release: () => void = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const findMany = (async (...args: Parameters<typeof prisma.privateTargetPermission.findMany>) => {
      const rows = await prisma.privateTargetPermission.findMany(...args)
      read()
      await released
      return rows
    }) as unknown as typeof prisma.privateTargetPermission.findMany
    const slow = { privateTargetPermission: { findMany } } as unknown as typeof prisma
    const check = await instance({ prisma: slow })
    const before = check.allows(id)
    await isRead
    await set(id, false, { ...operator, privateTargets: check })
    const after = check.allows(id)
    release()
    expect(await before).toBe(true)
    expect(await after).toBe(false)
    expect(await check.allows(id)).toBe(false)
  })

  test('that cannot be read is refused, and read again', async () => {
    const id = await tenant()
    await set(id, true)
    let isDown = true
    const findMany = ((...args: Parameters<typeof prisma.privateTargetPermission.findMany>) =>
      isDown
        ? Promise.reject(new Error('no database'))
        : prisma.privateTargetPermission.findMany(...args)) as typeof prisma.privateTargetPermission.findMany
    const check = await instance({ prisma: { privateTargetPermission: { findMany } } as unknown as typeof prisma })
    await expect(check.allows(id)).rejects.toThrow('no database')
    isDown = false
    expect(await check.allows(id)).toBe(true)
  })

  test('of the environment needs no database', async () => {
    const check = await instance({ open: true })
    expect(await statementsOf(() => check.allows(null))).toEqual([])
    expect(await check.allows('org_a')).toBe(true)
  })
})
