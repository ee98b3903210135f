import { requireScope } from '../core/access.ts'
import type { Context } from '../core/context.ts'
import { Conflict, ManagedByFile, NotFound } from '../core/errors.ts'
import { insertRows } from '../database/insert-rows.ts'
import type { ChangeContext } from '../event-log/change.ts'
import { change } from '../event-log/change.ts'
import type { ManagedObject as ManagedObjectRow } from '../generated/prisma/client.ts'
import type { EventKind } from '../generated/prisma/enums.ts'
import { fieldName } from './field-name.ts'

/** What an edit of an object needs that a configuration file may have locked. */
export interface EditContext extends ChangeContext {
  /** Whether a configuration file is being applied. Locks do not stop it. */
  readonly appliesFile?: true | undefined
}

/** An object that a configuration file manages. */
export interface ManagedObject {
  readonly id: string
  readonly file: string
  readonly section: string
  readonly key: string
  /** The fields that the file sets, by their names in the file. */
  readonly members: readonly string[]
  /** Whether applying the file locks those fields. */
  readonly locksMembers: boolean
  /** When the fields were unlocked; null: not since the file was last applied. */
  readonly unlockedAt: Date | null
}

/** Returns how a file manages an object; null: no file manages it. */
export async function readManagedObject(
  { db }: Pick<Context, 'db'>,
  organizationId: string,
  id: string,
): Promise<ManagedObject | null> {
  const row = await db.managedObject.findFirst({ where: { organizationId, objectId: id } })
  if (row === null) return null
  const { file, section, key, fields, locksMembers, unlockedAt } = row
  return { id, file, section, key, members: Object.keys(fields as object), locksMembers, unlockedAt }
}

/** Reads the rows of all objects of an organization that files manage, sorted by section and key. */
export function readManagedObjects({ db }: Pick<Context, 'db'>, organizationId: string): Promise<ManagedObjectRow[]> {
  return db.managedObject.findMany({ where: { organizationId }, orderBy: [{ section: 'asc' }, { key: 'asc' }] })
}

/** The most objects that the files of an organization remember, deleted ones among them: five full files. */
export const MAX_MANAGED_OBJECTS = 10_000

/** The object of a file that was applied. */
export type AppliedObject = Omit<ManagedObjectRow, 'locksMembers' | 'unlockedAt'>

/**
 * Replaces the rows of the objects that a file manages, within the transaction of a change, and locks their fields or not.
 * @param keepsAbsent whether the rows of objects that are no longer in the file stay.
 * @throws Conflict if that is more than an organization may have.
 */
export async function replaceManagedObjects(
  { db }: Pick<Context, 'db'>,
  organizationId: string,
  {
    file,
    keepsAbsent,
    locksMembers,
    rows,
  }: {
    readonly file: string
    readonly keepsAbsent: boolean
    readonly locksMembers: boolean
    readonly rows: readonly AppliedObject[]
  },
): Promise<void> {
  const written = rows.map(({ section, key }) => `${section}.${key}`)
  await db.$executeRaw`
    DELETE FROM "ManagedObject" WHERE "organizationId" = ${organizationId} AND file = ${file}
      AND (NOT ${keepsAbsent}::bool OR section || '.' || key = ANY (${written}::text[]))`
  await insertRows(
    db,
    'ManagedObject',
    rows.map((row) => ({ ...row, locksMembers, unlockedAt: null })),
  )
  if ((await db.managedObject.count({ where: { organizationId } })) <= MAX_MANAGED_OBJECTS) return
  throw new Conflict(
    `The files of an organization can manage at most ${MAX_MANAGED_OBJECTS} objects, deleted ones included. Apply a file with deletion to forget those that it no longer has.`,
  )
}

/** Returns whether only its file may change the fields of an object. */
export const isLocked = ({ locksMembers, unlockedAt }: Pick<ManagedObject, 'locksMembers' | 'unlockedAt'>): boolean =>
  locksMembers && unlockedAt === null

/**
 * Requires that no file has locked the fields that an edit changes. Call it in the transaction of the edit.
 * @param changed the fields, by their names in inputs or in files. @throws ManagedByFile.
 */
export async function requireUnlocked(
  tx: EditContext,
  organizationId: string,
  id: string,
  changed: readonly string[],
): Promise<void> {
  if (changed.length === 0 || tx.appliesFile) return
  const managed = await readManagedObject(tx, organizationId, id)
  if (managed === null || !isLocked(managed)) return
  const names = new Set(changed.map(fieldName).filter((name) => managed.members.includes(name)))
  if (names.size > 0) throw new ManagedByFile(managed, [...names])
}

/** Requires that no file has locked an object that is about to be deleted. @throws ManagedByFile. */
export async function requireDeletable(tx: EditContext, organizationId: string, id: string): Promise<void> {
  if (tx.appliesFile) return
  const managed = await readManagedObject(tx, organizationId, id)
  if (managed !== null && isLocked(managed)) throw new ManagedByFile(managed)
}

/**
 * Unlocks an object that a file manages, so that it can be changed until the file is applied again. Requires a key with scope
 * WRITE.
 * @throws NotFound when no file manages the object.
 */
export function unlockManagedObject(ctx: ChangeContext, id: string): Promise<ManagedObject> {
  return setLock(ctx, id, 'MANAGED_OBJECT_UNLOCKED')
}

/** Reverts `unlockManagedObject`. Requires a key with scope WRITE. @throws NotFound when no file manages the object. */
export function lockManagedObject(ctx: ChangeContext, id: string): Promise<ManagedObject> {
  return setLock(ctx, id, 'MANAGED_OBJECT_LOCKED')
}

async function setLock(
  ctx: ChangeContext,
  id: string,
  kind: Extract<EventKind, 'MANAGED_OBJECT_LOCKED' | 'MANAGED_OBJECT_UNLOCKED'>,
): Promise<ManagedObject> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const managed = await readManagedObject(tx, organizationId, id)
    if (managed === null) throw new NotFound('No configuration file manages this object.')
    const { section, key, file, locksMembers } = managed
    const toUnlock = kind === 'MANAGED_OBJECT_UNLOCKED'
    if (!locksMembers || isLocked(managed) !== toUnlock) return [managed]
    const unlockedAt = toUnlock ? tx.now() : null
    await tx.db.managedObject.update({
      where: { organizationId_section_key: { organizationId, section, key } },
      data: { unlockedAt },
    })
    return [
      { ...managed, unlockedAt },
      { kind, subjectId: id, subjectName: `${section}.${key} of ${file}` },
    ]
  })
}
