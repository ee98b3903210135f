import { describe, expect, test } from 'vitest'
import { authenticate } from '../../../src/account/api-key/authenticate.ts'
import { createWrongKeys } from '../../../src/account/api-key/wrong-keys.ts'
import { createOrganization } from '../../../src/account/organization/organization.ts'
import { RateLimited, Unauthenticated } from '../../../src/core/errors.ts'
import { MINUTE } from '../../../src/core/time.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'

const { prisma } = await testDatabase()
const operator = testContext(prisma, { actor: { kind: 'operator' } })
const fields = { name: 'Acme', slug: 'acme', contactEmail: 'a@b.example' }
const { apiKey } = await createOrganization(operator, fields)

/** A separate authentication that counts the database's lookups of keys. */
function door() {
  const clock = { now: noon, looks: 0 }
  const now = () => clock.now
  const counting = prisma.$extends({
    query: {
      $queryRaw({ args, query }) {
        clock.looks += 1
        return query(args)
      },
    },
  })
  const reading = { ...operator, db: counting as unknown as typeof prisma, now, wrongKeys: createWrongKeys(now) }
  return { clock, enter: (key: string, address: string) => authenticate(reading, key, address) }
}

/** Sends different wrong keys until the address is refused. */
async function tire(enter: ReturnType<typeof door>['enter'], address: string, count = 20) {
  for (let index = 0; index < count; index += 1) {
    await expect(enter(`ac_${index}`, address)).rejects.toThrow(Unauthenticated)
  }
}

describe('wrong keys', () => {
  test('are limited per address and minute, without database queries beyond the limit', async () => {
    const { clock, enter } = door()
    await tire(enter, '192.0.2.1')
    expect(clock.looks).toBe(20)
    const refusal = await enter('ac_next', '192.0.2.1').catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(RateLimited)
    expect((refusal as RateLimited).retryAt).toEqual(new Date(noon.getTime() + MINUTE))
    expect(clock.looks).toBe(20)
    await expect(enter('ac_next', '192.0.2.2')).rejects.toThrow(Unauthenticated)
    clock.now = new Date(noon.getTime() + MINUTE)
    await expect(enter('ac_another', '192.0.2.1')).rejects.toThrow(Unauthenticated)
    expect(await enter(apiKey.secret, '192.0.2.1')).toMatchObject({ kind: 'apiKey' })
  })

  test('share a limit per IPv6 /64', async () => {
    const { enter } = door()
    await tire(enter, '2001:db8::1')
    await expect(enter('ac_next', '2001:db8::2')).rejects.toThrow(RateLimited)
    await expect(enter('ac_next', '2001:db8:0:1::1')).rejects.toThrow(Unauthenticated)
  })

  test('do not lock out valid keys behind the same address', async () => {
    const { enter } = door()
    await enter(apiKey.secret, '192.0.2.1')
    await tire(enter, '192.0.2.1')
    expect(await enter(apiKey.secret, '192.0.2.1')).toMatchObject({ kind: 'apiKey' })
  })

  test('that are repeated count once and cost one query a minute, so that a forgotten script does not lock out others', async () => {
    const { clock, enter } = door()
    for (let index = 0; index < 100; index += 1) {
      await expect(enter('ac_old', '192.0.2.1')).rejects.toThrow(Unauthenticated)
    }
    expect(clock.looks).toBe(1)
    expect(await enter(apiKey.secret, '192.0.2.1')).toMatchObject({ kind: 'apiKey' })
    clock.now = new Date(noon.getTime() + MINUTE)
    await expect(enter('ac_old', '192.0.2.1')).rejects.toThrow(Unauthenticated)
    expect(clock.looks).toBe(3)
  })

  test('sent at the same time are looked up only up to the limit of wrong keys', async () => {
    const { clock, enter } = door()
    const results = await Promise.allSettled(Array.from({ length: 200 }, (_, n) => enter(`ac_${n}`, '192.0.2.1')))
    const kinds = results.map((result) => result.status === 'rejected' && result.reason.constructor.name)
    expect(kinds.filter((kind) => kind === 'Unauthenticated')).toHaveLength(20)
    expect(kinds.filter((kind) => kind === 'RateLimited')).toHaveLength(180)
    expect(clock.looks).toBe(20)
  })

  test('that are repeated at the same time count once', async () => {
    const { enter } = door()
    await Promise.allSettled(Array.from({ length: 100 }, () => enter('ac_old', '192.0.2.1')))
    expect(await enter(apiKey.secret, '192.0.2.1')).toMatchObject({ kind: 'apiKey' })
  })

  test('do not delay a valid key that is sent for the first time along with them', async () => {
    const { enter } = door()
    const wrong = Array.from({ length: 19 }, (_, n) => enter(`ac_${n}`, '192.0.2.1').catch(() => null))
    const valid = await Promise.all(Array.from({ length: 100 }, () => enter(apiKey.secret, '192.0.2.1')))
    expect(valid).toHaveLength(100)
    await Promise.all(wrong)
  })

  test('whose lookup fails neither count nor delay others', async () => {
    const broken = createWrongKeys(() => noon)
    const failing = { ...operator, db: null as unknown as typeof prisma, wrongKeys: broken }
    const failed = await Promise.allSettled(
      Array.from({ length: 60 }, (_, n) => authenticate(failing, `ac_${n}`, '192.0.2.1')),
    )
    for (const each of failed) expect(each).toMatchObject({ reason: expect.any(TypeError) })
    const working = { ...operator, wrongKeys: broken }
    expect(await authenticate(working, apiKey.secret, '192.0.2.1')).toMatchObject({ kind: 'apiKey' })
  })
})
