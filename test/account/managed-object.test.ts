import { expect, test } from 'vitest'
import { MAX_MANAGED_OBJECTS, replaceManagedObjects } from '../../src/account/managed-object.ts'
import { transaction } from '../../src/core/context.ts'
import { Conflict } from '../../src/core/errors.ts'
import { tenantsOf } from '../status/setup.ts'
import { testDatabase } from '../support/database.ts'

const { prisma, pool } = await testDatabase()
const tenant = tenantsOf(prisma)

test('the files of an organization remember a number of objects, deleted ones included', async () => {
  const { ctx, id: organizationId } = await tenant('TEAM')
  await pool.query(
    `INSERT INTO "ManagedObject" ("organizationId", section, key, file, "objectId", given, fields, "appliedSeq")
     SELECT $1, 'services', 'old' || each, 'old.yaml', 'svc_' || each, '', '{}', 1 FROM generate_series(1, $2::int) AS each`,
    [organizationId, MAX_MANAGED_OBJECTS - 1],
  )
  const row = (key: string) => ({
    ...{ organizationId, section: 'services', key, file: 'new.yaml', objectId: 'svc_new' },
    ...{ given: '', fields: {}, appliedSeq: 1 },
  })
  const apply = (keys: readonly string[]) =>
    transaction(ctx, (tx) =>
      replaceManagedObjects(tx, organizationId, {
        ...{ file: 'new.yaml', keepsAbsent: true, locksMembers: true },
        rows: keys.map(row),
      }),
    )
  await apply(['one'])
  await apply(['one'])
  await expect(apply(['two'])).rejects.toThrow(Conflict)
  expect(await prisma.managedObject.count({ where: { organizationId } })).toBe(MAX_MANAGED_OBJECTS)
})
