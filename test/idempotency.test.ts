import { describe, expect, test } from 'vitest'
import { keyMemory } from '../src/account/answers.ts'
import { createApiKey } from '../src/account/api-key.ts'
import type { Context } from '../src/context.ts'
import { Conflict, Invalid, NotFound, TierLimitReached } from '../src/errors.ts'
import { bulk } from '../src/eventlog/bulk.ts'
import { change } from '../src/eventlog/change.ts'
import type { Service } from '../src/generated/prisma/client.ts'
import type { Memory } from '../src/idempotency.ts'
import { forgetOldAnswers, once, outcomesMemory, rowMemory } from '../src/idempotency.ts'
import { createService, deleteService } from '../src/status/service.ts'
import { DAY, HOUR } from '../src/time.ts'
import { seal } from './monitoring/setup.ts'
import type { Tenant } from './status/setup.ts'
import { tenantsOf, together } from './status/setup.ts'
import { testContext } from './support/context.ts'
import { testDatabase } from './support/database.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)

const create = (ctx: Context, key: string | null, input: { name: string } = { name: 'API' }) =>
  once<Context, Service, Service>(ctx, { operation: 'createService', input, key }, rowMemory(ctx), (claiming) =>
    createService(claiming, input),
  )
const services = ({ id }: Tenant) => prisma.service.count({ where: { organizationId: id } })

describe('a request with a key', () => {
  test('is done once, and answered again as it was first', async () => {
    const own = await tenant()
    const first = await create(own.ctx, 'k-1')
    expect(await create(own.later(23 * HOUR), 'k-1')).toEqual(first)
    expect([await services(own), await own.news()]).toEqual([1, ['SERVICE_CREATED API']])
  })

  test('is done again without a key, with another key, and by another organization', async () => {
    const [own, other] = [await tenant(), await tenant()]
    const ids = [
      await create(own.ctx, 'k-1'),
      await create(own.ctx, 'k-2'),
      await create(own.ctx, null),
      await create(own.ctx, null),
      await create(other.ctx, 'k-1'),
    ].map(({ id }) => id)
    expect(new Set(ids).size).toBe(5)
  })

  test('is done again after a day', async () => {
    const own = await tenant()
    const first = await create(own.ctx, 'k-1')
    const second = await create(own.later(DAY), 'k-1')
    expect(second.id).not.toBe(first.id)
    expect((await create(own.later(DAY + HOUR), 'k-1')).id).toBe(second.id)
  })

  test('has one effect and one answer, however many ask at the same time', async () => {
    const own = await tenant()
    for (let round = 0; round < 5; round++) {
      const { done, refused } = await together(Array.from({ length: 8 }, () => create(own.ctx, `race-${round}`)))
      expect(refused).toEqual([])
      expect(new Set(done.map(({ id }) => id)).size).toBe(1)
      expect(await services(own)).toBe(round + 1)
    }
  })

  test('is a conflict with another input or another operation', async () => {
    const own = await tenant()
    await create(own.ctx, 'k-1')
    const reused = { constructor: Conflict, code: 'IDEMPOTENCY_KEY_REUSED' }
    await expect(create(own.ctx, 'k-1', { name: 'Other' })).rejects.toMatchObject(reused)
    const asked = { operation: 'createGroup', input: { name: 'API' }, key: 'k-1' }
    await expect(once(own.ctx, asked, rowMemory<Service>(own.ctx), () => fail())).rejects.toMatchObject(reused)
    expect(await services(own)).toBe(1)
  })

  test('is the same whatever the order of the members of its input', async () => {
    const own = await tenant()
    const ask = (input: { name: string }) => create(own.ctx, 'k-1', input)
    const input = { name: 'API', description: 'x', nested: { a: 1, b: [1, 2] } }
    const { id } = await ask(input)
    expect((await ask({ nested: { b: [1, 2], a: 1 }, description: 'x', name: 'API' } as typeof input)).id).toBe(id)
    await expect(ask({ ...input, nested: { a: 1, b: [2, 1] } } as typeof input)).rejects.toThrow(Conflict)
  })

  test('leaves the key free when it is refused', async () => {
    const own = await tenant()
    await expect(create(own.ctx, 'k-1', { name: ' ' })).rejects.toThrow(Invalid)
    const ids = await own.services(...Array.from({ length: 10 }, (_, index) => `${index}`))
    await expect(create(own.ctx, 'k-2')).rejects.toThrow(TierLimitReached)
    await deleteService(own.ctx, ids[0] ?? '')
    expect((await create(own.ctx, 'k-2')).name).toBe('API')
  })

  test('leaves neither the effect nor the key when it fails after both', async () => {
    const own = await tenant()
    const failing: Memory<Service> = {
      ...rowMemory<Service>(own.ctx),
      write: () => {
        throw new Error('enough')
      },
    }
    const asked = { operation: 'createService', input: { name: 'API' }, key: 'k-1' }
    const work = (claiming: Context) => createService(claiming, { name: 'API' })
    await expect(once(own.ctx, asked, failing, work)).rejects.toThrow('enough')
    expect([await services(own), await prisma.idempotencyKey.count({ where: { organizationId: own.id } })]).toEqual([
      0, 0,
    ])
    expect((await create(own.ctx, 'k-1')).name).toBe('API')
  })

  test('says so when what it made has been deleted', async () => {
    const own = await tenant()
    const { id } = await create(own.ctx, 'k-1')
    await deleteService(own.ctx, id)
    await expect(create(own.ctx, 'k-1')).rejects.toThrow(NotFound)
  })

  test.each(['', 'a b', 'ä', 'x'.repeat(256), 'a\u0000'])('is refused with the key %j', async (key) => {
    const { ctx } = await tenant()
    await expect(create(ctx, key)).rejects.toMatchObject({ issues: [{ path: ['idempotencyKey'] }] })
  })

  test('of a visitor needs a long key, and is known by the address', async () => {
    const key = 'k'.repeat(16)
    const organization = await tenant()
    const from = (clientAddress: string) => testContext(prisma, { actor: { kind: 'visitor' }, clientAddress })
    const ask = (ctx: Context, given = key) =>
      once(ctx, { operation: 'x', input: {}, key: given }, rowMemory<Service>(ctx), (claiming) =>
        change(claiming, organization.id, async (tx) => [
          await createService({ ...tx, actor: organization.ctx.actor }, { name: 'x' }),
        ]),
      )
    await expect(ask(from('192.0.2.1'), 'short')).rejects.toThrow(Invalid)
    const { id } = await ask(from('192.0.2.1'))
    expect((await ask(from('192.0.2.1'))).id).toBe(id)
    expect((await ask(from('192.0.2.2'))).id).not.toBe(id)
  })

  test('that made an API key gives its secret again, which nothing holds in clear', async () => {
    const own = await tenant()
    const ctx = { ...own.ctx, seal }
    const input = { name: 'CI', scope: 'READ' }
    const ask = () =>
      once(ctx, { operation: 'createApiKey', input, key: 'k-1' }, keyMemory(ctx), (claiming) =>
        createApiKey(claiming, input),
      )
    const first = await ask()
    expect(await ask()).toEqual(first)
    const kept = await prisma.idempotencyKey.findMany({ where: { organizationId: own.id } })
    expect(JSON.stringify(kept)).not.toContain(first.secret)
    expect(await prisma.apiKey.count({ where: { organizationId: own.id } })).toBe(2)
  })
})

test('many items with a key are done once, and told again as they were first, refusals too', async () => {
  const own = await tenant('TEAM')
  const items = Array.from({ length: 23 }, (_, index) => ({ name: index % 7 === 3 ? ' ' : `${index}` }))
  const ask = () =>
    bulk(
      own.ctx,
      own.id,
      {
        items,
        mode: 'EACH',
        part: (part, work) =>
          once(
            own.ctx,
            { operation: 'createServices', input: items, key: 'k-1', part },
            outcomesMemory<Service>(own.ctx),
            work,
          ),
      },
      createService,
    )
  const first = await ask()
  const again = await ask()
  expect(again.map((each) => ('value' in each ? each.value.id : each.error))).toEqual(
    first.map((each) => ('value' in each ? each.value.id : each.error)),
  )
  expect(await services(own)).toBe(20)
})

test('answers are forgotten after a day', async () => {
  const own = await tenant()
  await create(own.ctx, 'k-1')
  await create(own.later(HOUR), 'k-2')
  const kept = () => prisma.idempotencyKey.count({ where: { organizationId: own.id } })
  await forgetOldAnswers(own.later(DAY - 1))
  expect(await kept()).toBe(2)
  expect(await forgetOldAnswers(own.later(DAY))).toBe(false)
  expect(await kept()).toBe(1)
})

function fail(): never {
  throw new Error('This was not to be done.')
}
