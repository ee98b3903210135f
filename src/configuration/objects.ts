import { isDeepStrictEqual } from 'node:util'
import { createAlertChannel, deleteAlertChannel, updateAlertChannel } from '../alerting/channel.ts'
import type { AlertingContext } from '../alerting/context.ts'
import { yieldAfterTimeSlice } from '../core/concurrency/time-slice.ts'
import { DomainError, Invalid, type Issue } from '../core/errors.ts'
import type { Outcome } from '../core/outcome.ts'
import { isRefused } from '../core/outcome.ts'
import type { ManagedObject } from '../generated/prisma/client.ts'
import { createMonitor, deleteMonitor, updateMonitor, updateMonitors } from '../monitoring/monitor/monitor.ts'
import { createMonitors } from '../monitoring/monitor/new-monitor.ts'
import { createObjective, deleteObjective } from '../monitoring/objective/objective.ts'
import { createPage, deletePage, updatePage } from '../status/page/page.ts'
import { createService, createServices, deleteService } from '../status/service/service.ts'
import { createServiceGroup, deleteServiceGroup, updateServiceGroup } from '../status/service/service-group.ts'
import { deleteTemplate } from '../status/template/template.ts'
import type { Digest, Existing } from './current.ts'
import { withoutDefaultOptions } from './defaults.ts'
import { asInput, fieldPath, lateFields, monitorsOfGroup, withReferences, withSecrets } from './fields.ts'
import type { Configuration, ObjectFields } from './format.ts'
import {
  createFileTemplate,
  updateFileObjective,
  updateFileService,
  updateFileServices,
  updateFileTemplate,
} from './immutable-fields.ts'
import type { Keys } from './keys.ts'
import type { Section } from './sections.ts'

/** The search for problems stops after this many. */
const MAX_ISSUES = 100

/** A parsed file and how to apply it. */
export interface Request {
  readonly configuration: Configuration
  readonly lines: ReadonlyMap<string, number>
  readonly file: string
  readonly deletes: boolean
  /** Whether the file keeps managing objects that it no longer names, because it is only a part. */
  readonly keepsAbsent: boolean
  /** Whether each refused object is rolled back alone. If not, a refusal throws `SavepointNeeded`. */
  readonly hasSavepoints: boolean
}

/** Thrown when an object was refused and may have been written in part. The caller retries with savepoints. */
export class SavepointNeeded extends Error {}

/** The operations on the objects of a section. */
interface Operations {
  create(ctx: AlertingContext, input: unknown): Promise<{ readonly id: string }>
  /** Creates many objects with a few statements. Absent: create them one by one. */
  createMany?(ctx: AlertingContext, inputs: readonly unknown[]): Promise<Outcome<{ readonly id: string }>[]>
  update(ctx: AlertingContext, input: unknown): Promise<unknown>
  /** Updates many objects with a few statements. Absent: update them one by one. @throws DomainError for the first refusal. */
  updateMany?(ctx: AlertingContext, inputs: readonly unknown[]): Promise<void>
  delete(ctx: AlertingContext, id: string): Promise<unknown>
}

export const operations: Readonly<Record<Section, Operations>> = {
  groups: { create: createServiceGroup, update: updateServiceGroup, delete: deleteServiceGroup },
  services: {
    create: createService,
    createMany: createServices,
    update: updateFileService,
    updateMany: updateFileServices,
    delete: deleteService,
  },
  monitors: {
    create: createMonitor,
    createMany: createMonitors,
    update: updateMonitor,
    updateMany: updateMonitors,
    delete: deleteMonitor,
  },
  pages: { create: createPage, update: updatePage, delete: deletePage },
  channels: { create: createAlertChannel, update: updateAlertChannel, delete: deleteAlertChannel },
  templates: { create: createFileTemplate, update: updateFileTemplate, delete: deleteTemplate },
  objectives: { create: createObjective, update: updateFileObjective, delete: deleteObjective },
}

/** The state while a file is applied. */
export interface Run extends Request {
  readonly ctx: AlertingContext
  readonly organizationId: string
  readonly before: ReadonlyMap<string, Existing>
  /** The rows of managed objects by section and key, with moved keys replaced. */
  readonly managed: ReadonlyMap<string, ManagedObject>
  readonly keys: Keys
  readonly digest: Digest
  readonly issues: Issue[]
  /** The number of operations run. Zero means that nothing has changed. */
  readonly operations: { count: number }
}

/** An object that may differ from the file: the fields to set first, and those of `lateFields`. */
interface Work {
  readonly key: string
  readonly early: ObjectFields
  readonly late: ObjectFields
}

/** Creates and updates the objects of a section. Adds refusals to `issues`. */
export async function applySection(current: Run, section: Section): Promise<void> {
  const work = await workOf(current, section)
  const isNew = ({ key }: Work) => current.keys.idOf(section, key) === undefined
  const isGroup = ({ early }: Work) => section === 'monitors' && 'group' in early
  const together = operations[section].createMany ? work.filter((each) => isNew(each) && !isGroup(each)) : []
  const made = new Set(await createTogether(current, section, together))
  const known = work.filter((each) => !together.includes(each) && !isGroup(each))
  const isWritten = new Set([...together, ...(await updateTogether(current, section, known, made))])
  const groups = withInnerGroupsFirst(current, work.filter(isGroup))
  for (const each of [...work.filter((each) => !isGroup(each)), ...groups]) {
    if (current.issues.length >= MAX_ISSUES) return
    if (isWritten.has(each)) continue
    if (await applyObject(current, section, each.key, each.early)) made.add(each)
  }
  for (const each of work) {
    if (made.has(each) && Object.keys(each.late).length > 0) await applyObject(current, section, each.key, each.late)
  }
}

/** Sorts group monitors so that each follows the groups it contains. Leaves out cycles and adds an issue for each of their groups. */
function withInnerGroupsFirst({ issues }: Run, groups: readonly Work[]): Work[] {
  const sorted: Work[] = []
  let left = groups
  while (left.length > 0) {
    const waiting = new Set(left.map(({ key }) => key))
    const ready = left.filter(({ early }) => !monitorsOfGroup(early).some((key) => waiting.has(key)))
    if (ready.length === 0) {
      const message = 'must not contain a group that contains this one'
      issues.push(...left.map(({ key }) => ({ path: ['monitors', key, 'group', 'monitors'], message })))
      return sorted
    }
    sorted.push(...ready)
    left = left.filter((each) => !ready.includes(each))
  }
  return sorted
}

/** Returns the objects of a section that may differ from the file. */
async function workOf(current: Run, section: Section): Promise<Work[]> {
  const work: Work[] = []
  for (const [key, fields] of current.configuration.objects[section]) {
    await yieldAfterTimeSlice(current.organizationId)
    const row = current.managed.get(`${section}.${key}`)
    if (row !== undefined && row.file !== current.file) {
      current.issues.push({ path: [section, key], message: `is managed by ${row.file}` })
    } else if (!isApplied(current, section, key, fields)) {
      const part = (isLate: boolean) =>
        Object.fromEntries(Object.entries(fields).filter(([name]) => lateFields.has(name) === isLate))
      work.push({ key, early: part(false), late: part(true) })
    }
  }
  return work
}

/** Returns whether an object certainly matches the file, so that it needs no update. */
function isApplied(
  { keys, before, managed, digest }: Run,
  section: Section,
  key: string,
  given: ObjectFields,
): boolean {
  const id = keys.idOf(section, key)
  const existing = id === undefined ? undefined : before.get(id)
  if (existing === undefined) return false
  const row = managed.get(`${section}.${key}`)
  if (row?.given === digest(given)) {
    const fields = row.fields as Readonly<Record<string, string>>
    return Object.entries(fields).every(([name, hash]) => digest(existing.fields[name] ?? null) === hash)
  }
  const written = withReferences(existing.fields, (_section, reference) => keys.keyOf(reference))
  const plain = (name: string, value: unknown) => withoutDefaultOptions(name, withSecrets(value, null))
  return Object.entries(given).every(([name, value]) =>
    isDeepStrictEqual(plain(name, value), plain(name, written[name])),
  )
}

/** Creates objects in bulk. Adds refusals to `issues` and returns the created ones. */
async function createTogether(current: Run, section: Section, work: readonly Work[]): Promise<Work[]> {
  const { ctx, keys, issues, operations: ran } = current
  const { createMany } = operations[section]
  const ready: { readonly each: Work; readonly input: unknown }[] = []
  for (const each of createMany ? work : []) {
    await yieldAfterTimeSlice(current.organizationId)
    const input = inputOf(current, section, each.key, each.early)
    if (input !== null) ready.push({ each, input })
  }
  if (createMany === undefined || ready.length === 0) return []
  ran.count += 1
  const outcomes = await createMany(
    ctx,
    ready.map(({ input }) => input),
  )
  return ready.flatMap(({ each }, index) => {
    const outcome = outcomes[index]
    if (outcome === undefined) throw new Error('An object has no outcome.')
    if (isRefused(outcome)) {
      if (issues.length < MAX_ISSUES) issues.push(...issuesOf(outcome, [section, each.key]))
      return []
    }
    keys.set(section, each.key, outcome.id)
    return [each]
  })
}

/**
 * Updates objects in bulk and adds them to `made`. Does nothing if there are savepoints: then each object is updated alone.
 * @returns the objects that need no further update.
 */
async function updateTogether(
  current: Run,
  section: Section,
  work: readonly Work[],
  made: Set<Work>,
): Promise<readonly Work[]> {
  const { ctx, keys, hasSavepoints, operations: ran } = current
  const { updateMany } = operations[section]
  if (updateMany === undefined || hasSavepoints || work.length === 0) return []
  const inputs: unknown[] = []
  for (const each of work) {
    await yieldAfterTimeSlice(current.organizationId)
    const input = inputOf(current, section, each.key, each.early)
    if (input === null) continue
    inputs.push({ id: keys.idOf(section, each.key), ...input })
    made.add(each)
  }
  ran.count += 1
  try {
    await updateMany(ctx, inputs)
  } catch (error) {
    if (error instanceof DomainError) throw new SavepointNeeded()
    throw error
  }
  return work
}

/** Returns fields as the input of an operation; null if they refer to missing objects, with issues added. */
function inputOf(current: Run, section: Section, key: string, fields: ObjectFields): Record<string, unknown> | null {
  const { issues } = current
  const count = issues.length
  const refused = new Set<string>()
  const resolved = withReferences(fields, (to, reference, path) => {
    const id = idOfReference(current, to, reference)
    if (id !== undefined) return id
    // Reports a refused object only once. Leaving out references to it reveals other problems.
    if (current.configuration.objects[to].has(reference)) refused.add(path[0] ?? '')
    else issues.push({ path: [section, key, ...path], message: `must be a key of ${to}; there is no ${reference}` })
    return ''
  })
  if (issues.length > count) return null
  return asInput(Object.fromEntries(Object.entries(resolved).filter(([name]) => !refused.has(name))))
}

/** Creates or updates an object. Adds a refusal to `issues`. @returns whether it succeeded. */
async function applyObject(current: Run, section: Section, key: string, fields: ObjectFields): Promise<boolean> {
  const { ctx, keys, issues } = current
  const count = issues.length
  const input = inputOf(current, section, key, fields)
  if (input === null) return false
  const id = keys.idOf(section, key)
  const events = ctx.open?.events.length ?? 0
  if (current.hasSavepoints) await ctx.db.$executeRaw`SAVEPOINT object`
  try {
    const { create, update } = operations[section]
    current.operations.count += 1
    if (id === undefined) keys.set(section, key, (await create(ctx, input)).id)
    else await update(ctx, { id, ...input })
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    if (!current.hasSavepoints) throw new SavepointNeeded()
    await ctx.db.$executeRaw`ROLLBACK TO SAVEPOINT object`
    ctx.open?.events.splice(events)
    issues.push(...issuesOf(error, [section, key]))
  }
  if (current.hasSavepoints) await ctx.db.$executeRaw`RELEASE SAVEPOINT object`
  return issues.length === count
}

/** Returns the id of a key, unless the file is about to remove its object. */
function idOfReference({ configuration, managed, file, keys, keepsAbsent }: Run, section: Section, key: string) {
  const isLeaving =
    !keepsAbsent && managed.get(`${section}.${key}`)?.file === file && !configuration.objects[section].has(key)
  return isLeaving ? undefined : keys.idOf(section, key)
}

/** Converts a refusal to issues below a path of the file. */
export function issuesOf(error: DomainError, path: readonly string[]): Issue[] {
  const own = error instanceof Invalid ? error.issues : []
  if (own.length === 0) return [{ path, message: error.message }]
  return own.map((issue) => ({ path: [...path, ...fieldPath(issue.path)], message: issue.message }))
}
