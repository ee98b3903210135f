import { describe, expect, test } from 'vitest'
import { createApiKey } from '../../src/account/api-key/api-key.ts'
import { keySerializer } from '../../src/account/api-key/idempotent-answers.ts'
import type { Context } from '../../src/core/context.ts'
import { Conflict, Invalid, NotFound, TierLimitReached } from '../../src/core/errors.ts'
import type { AnswerSerializer } from '../../src/core/idempotency.ts'
import {
  deleteExpiredAnswers,
  outcomesSerializer,
  rowSerializer,
  withIdempotencyKey,
} from '../../src/core/idempotency.ts'
import { isRefused } from '../../src/core/outcome.ts'
import { DAY, HOUR } from '../../src/core/time.ts'
import { bulk } from '../../src/event-log/bulk.ts'
import { change } from '../../src/event-log/change.ts'
import type { Service } from '../../src/generated/prisma/client.ts'
import { createService, deleteService } from '../../src/status/service/service.ts'
import { seal } from '../monitoring/setup.ts'
import type { Tenant } from '../status/setup.ts'
import { tenantsOf, together } from '../status/setup.ts'
import { testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)

const create = (ctx: Context, key: string | null, input: { name: string } = { name: 'API' }) =>
  withIdempotencyKey<Context, Service, Service>(
    ctx,
    { operation: 'createService', input, key },
    rowSerializer(ctx),
    (claiming) => createService(claiming, input),
  )
const services = ({ id }: Tenant) => prisma.service.count({ where: { organizationId: id } })

describe('a request with an idempotency key', () => {
  test('executes once and repeats the first answer', async () => {
    const own = await tenant()
    const first = await create(own.ctx, 'k-1')
    expect(await create(own.later(23 * HOUR), 'k-1')).toEqual(first)
    expect([await services(own), await own.news()]).toEqual([1, ['SERVICE_CREATED API']])
  })

  test('executes again without a key, with another key, or for another organization', async () => {
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

  test('executes again after a day', async () => {
    const own = await tenant()
    const first = await create(own.ctx, 'k-1')
    const second = await create(own.later(DAY), 'k-1')
    expect(second.id).not.toBe(first.id)
    expect((await create(own.later(DAY + HOUR), 'k-1')).id).toBe(second.id)
  })

  test('has one effect and one answer under concurrent requests', async () => {
    const own = await tenant()
    for (let round = 0; round < 5; round++) {
      const { done, refused } = await together(Array.from({ length: 8 }, () => create(own.ctx, `race-${round}`)))
      expect(refused).toEqual([])
      expect(new Set(done.map(({ id }) => id)).size).toBe(1)
      expect(await services(own)).toBe(round + 1)
    }
  })

  test('conflicts with another input or operation', async () => {
    const own = await tenant()
    await create(own.ctx, 'k-1')
    const reused = { constructor: Conflict, code: 'IDEMPOTENCY_KEY_REUSED' }
    await expect(create(own.ctx, 'k-1', { name: 'Other' })).rejects.toMatchObject(reused)
    const asked = { operation: 'createGroup', input: { name: 'API' }, key: 'k-1' }
    await expect(
      withIdempotencyKey(own.ctx, asked, rowSerializer<Service>(own.ctx), () => fail()),
    ).rejects.toMatchObject(reused)
    expect(await services(own)).toBe(1)
  })

  test('ignores the order of input members', async () => {
    const own = await tenant()
    const ask = (input: { name: string }) => create(own.ctx, 'k-1', input)
    const input = { name: 'API', description: 'x', nested: { a: 1, b: [1, 2] } }
    const { id } = await ask(input)
    expect((await ask({ nested: { b: [1, 2], a: 1 }, description: 'x', name: 'API' } as typeof input)).id).toBe(id)
    await expect(ask({ ...input, nested: { a: 1, b: [2, 1] } } as typeof input)).rejects.toThrow(Conflict)
  })

  test('leaves the key free when it is rejected', async () => {
    const own = await tenant()
    await expect(create(own.ctx, 'k-1', { name: ' ' })).rejects.toThrow(Invalid)
    const ids = await own.services(...Array.from({ length: 10 }, (_, index) => `${index}`))
    await expect(create(own.ctx, 'k-2')).rejects.toThrow(TierLimitReached)
    await deleteService(own.ctx, ids[0] ?? '')
    expect((await create(own.ctx, 'k-2')).name).toBe('API')
  })

  test('rolls back the change and the key together', async () => {
    const own = await tenant()
    const failing: AnswerSerializer<Service> = {
      ...rowSerializer<Service>(own.ctx),
      serialize: () => {
        throw new Error('enough')
      },
    }
    const asked = { operation: 'createService', input: { name: 'API' }, key: 'k-1' }
    const work = (claiming: Context) => createService(claiming, { name: 'API' })
    await expect(withIdempotencyKey(own.ctx, asked, failing, work)).rejects.toThrow('enough')
    expect([await services(own), await prisma.idempotencyKey.count({ where: { organizationId: own.id } })]).toEqual([
      0, 0,
    ])
    expect((await create(own.ctx, 'k-1')).name).toBe('API')
  })

  test('is not found when the created object was deleted', async () => {
    const own = await tenant()
    const { id } = await create(own.ctx, 'k-1')
    await deleteService(own.ctx, id)
    await expect(create(own.ctx, 'k-1')).rejects.toThrow(NotFound)
  })

  test.each(['', 'a b', 'ä', 'x'.repeat(256), 'a\u0000'])('rejects the key %j', async (key) => {
    const { ctx } = await tenant()
    await expect(create(ctx, key)).rejects.toMatchObject({ issues: [{ path: ['idempotencyKey'] }] })
  })

  test('requires a long key from a visitor and scopes it to the network', async () => {
    const key = 'k'.repeat(16)
    const organization = await tenant()
    const from = (clientAddress: string) => testContext(prisma, { actor: { kind: 'visitor' }, clientAddress })
    const ask = (ctx: Context, given = key) =>
      withIdempotencyKey(ctx, { operation: 'x', input: {}, key: given }, rowSerializer<Service>(ctx), (claiming) =>
        change(claiming, organization.id, async (tx) => [
          await createService({ ...tx, actor: organization.ctx.actor }, { name: 'x' }),
        ]),
      )
    await expect(ask(from('192.0.2.1'), 'short')).rejects.toThrow(Invalid)
    const { id } = await ask(from('192.0.2.1'))
    expect((await ask(from('192.0.2.1'))).id).toBe(id)
    expect((await ask(from('192.0.2.2'))).id).not.toBe(id)
  })

  test('returns a created API key’s secret again without storing it in clear text', async () => {
    const own = await tenant()
    const ctx = { ...own.ctx, seal }
    const input = { name: 'CI', scope: 'READ' }
    const ask = () =>
      withIdempotencyKey(ctx, { operation: 'createApiKey', input, key: 'k-1' }, keySerializer(ctx), (claiming) =>
        createApiKey(claiming, input),
      )
    const first = await ask()
    expect(await ask()).toEqual(first)
    const kept = await prisma.idempotencyKey.findMany({ where: { organizationId: own.id } })
    expect(JSON.stringify(kept)).not.toContain(first.secret)
    expect(await prisma.apiKey.count({ where: { organizationId: own.id } })).toBe(2)
  })
})

test('a bulk call executes once and repeats its outcomes, including errors', async () => {
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
          withIdempotencyKey(
            own.ctx,
            { operation: 'createServices', input: items, key: 'k-1', part },
            outcomesSerializer<Service>(own.ctx),
            work,
          ),
      },
      createService,
    )
  const first = await ask()
  const again = await ask()
  expect(again.map((each) => (isRefused(each) ? each : each.id))).toEqual(
    first.map((each) => (isRefused(each) ? each : each.id)),
  )
  expect(await services(own)).toBe(20)
})

describe('a bulk call in EACH mode', () => {
  const ask = ({ ctx, id }: Tenant, items: readonly { name: string }[]) =>
    bulk(
      ctx,
      id,
      {
        items,
        mode: 'EACH',
        part: (part, work) =>
          withIdempotencyKey(
            ctx,
            { operation: 'createServices', input: items, key: 'k-1', part },
            outcomesSerializer<Service>(ctx),
            work,
          ),
      },
      createService,
    )
  const reported = (outcomes: Awaited<ReturnType<typeof ask>>) =>
    outcomes.map((each) => (isRefused(each) ? each.code : each.name))

  test('repeats the errors of all items even if they would succeed now', async () => {
    const own = await tenant()
    const ids = await own.services(...Array.from({ length: 10 }, (_, index) => `${index}`))
    const items = [{ name: 'One' }, { name: 'Two' }]
    const first = reported(await ask(own, items))
    expect(first).toEqual(['TIER_LIMIT_REACHED', 'TIER_LIMIT_REACHED'])
    for (const id of ids) await deleteService(own.ctx, id)
    expect(reported(await ask(own, items))).toEqual(first)
    expect(await services(own)).toBe(0)
  })

  test('reports a deleted item as not found and repeats the others', async () => {
    const own = await tenant()
    const items = [{ name: 'One' }, { name: 'Two' }, { name: ' ' }]
    const [first] = await ask(own, items)
    if (first && !isRefused(first)) await deleteService(own.ctx, first.id)
    expect(reported(await ask(own, items))).toEqual(['NOT_FOUND', 'Two', 'INVALID_INPUT'])
  })
})

test('answers expire after a day', async () => {
  const own = await tenant()
  await create(own.ctx, 'k-1')
  await create(own.later(HOUR), 'k-2')
  const kept = () => prisma.idempotencyKey.count({ where: { organizationId: own.id } })
  await deleteExpiredAnswers(own.later(DAY - 1))
  expect(await kept()).toBe(2)
  expect(await deleteExpiredAnswers(own.later(DAY))).toBe(false)
  expect(await kept()).toBe(1)
})

function fail(): never {
  throw new Error('This must not run.')
}
