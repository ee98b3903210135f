import { expect, test } from 'vitest'
import { createPageGuard } from '../../../src/account/page/page-guard.ts'
import type { EventKind } from '../../../src/generated/prisma/enums.ts'
import { seal } from '../../monitoring/setup.ts'
import { tenantsOf } from '../../status/setup.ts'
import { testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const { now, log } = testContext(prisma)

/** A guard that knows an organization's page. */
async function guarded() {
  const { id } = await tenant()
  const guard = createPageGuard({ db: prisma, now, log, seal, hold: () => () => {} })
  const name = { organizationId: id }
  const [page] = await guard.pages(name)
  return { id, guard, name, page }
}

const events = (...kinds: EventKind[]) => kinds.map((kind) => ({ kind }))

test.each<[changed: boolean, kinds: EventKind[]]>([
  [false, ['INCIDENT_UPDATE_POSTED', 'SERVICE_STATUS_CHANGED']],
  [false, ['MAINTENANCE_STARTED']],
  [false, ['MONITOR_STATE_CHANGED', 'SERVICE_UNKNOWN']],
  [true, ['PAGE_UPDATED']],
  [true, ['PAGE_ACCESS_CHANGED']],
  [true, ['PAGE_TOKEN_REVOKED']],
  [true, ['SERVICE_DELETED']],
  [true, ['ORGANIZATION_DELETED']],
  [true, ['INCIDENT_CREATED', 'PAGE_DELETED']],
  [true, []],
])('reads pages again (%s) after %j', async (changed, kinds) => {
  const { id, guard, name, page } = await guarded()
  guard.invalidate('org_other', events('PAGE_UPDATED'))
  expect(guard.known(name)).toEqual([page])
  guard.invalidate(id, events(...kinds))
  expect(guard.known(name)).toEqual(changed ? null : [page])
})

test('reads pages again after a notification without events, and all after a lost connection', async () => {
  const { id, guard, name } = await guarded()
  guard.invalidate(id)
  expect(guard.known(name)).toBeNull()
  await guard.pages(name)
  guard.invalidate(null)
  expect(guard.known(name)).toBeNull()
})
