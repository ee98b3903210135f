import { isDeepStrictEqual } from 'node:util'
import { createAlertChannel, deleteAlertChannel, updateAlertChannel } from '../alerting/channel.ts'
import type { AlertingContext } from '../alerting/context.ts'
import { DomainError, Invalid, type Issue } from '../core/errors.ts'
import type { Outcome } from '../core/outcome.ts'
import { yieldAfterTimeSlice } from '../core/time-slice.ts'
import type { ManagedObject } from '../generated/prisma/client.ts'
import { createMonitor, deleteMonitor, updateMonitor, updateMonitors } from '../monitoring/monitor.ts'
import { createMonitors } from '../monitoring/new-monitor.ts'
import { createObjective, deleteObjective } from '../monitoring/objective/objective.ts'
import { createPage, deletePage, updatePage } from '../status/page.ts'
import { createService, createServices, deleteService, updateService, updateServices } from '../status/service.ts'
import { createServiceGroup, deleteServiceGroup, updateServiceGroup } from '../status/service-group.ts'
import { deleteTemplate } from '../status/template.ts'
import type { Digest, Existing } from './current.ts'
import { withoutDefaultOptions } from './defaults.ts'
import type { Configuration, Members } from './format.ts'
import { createFileTemplate, updateFileObjective, updateFileTemplate } from './kept-members.ts'
import type { Keys } from './keys.ts'
import { asInput, lateMembers, memberPath, withReferences, withSecrets } from './members.ts'
import type { Section } from './sections.ts'

/** After so many problems, no more are looked for. */
const MAX_ISSUES = 100

/** A file that was read, and how to apply it. */
export interface Request {
  readonly configuration: Configuration
  readonly lines: ReadonlyMap<string, number>
  readonly file: string
  readonly deletes: boolean
  /** Whether what is refused is undone alone; if not, a refusal needs another attempt. */
  readonly hasSavepoints: boolean
}

/** An object was refused, and may have been written in part. */
export class SavepointNeeded extends Error {}

/** The operations on the objects of a section. */
interface Operations {
  create(ctx: AlertingContext, input: unknown): Promise<{ readonly id: string }>
  /** Creates many with a few statements. Absent: they are few. */
  createMany?(ctx: AlertingContext, inputs: readonly unknown[]): Promise<Outcome<{ readonly id: string }>[]>
  update(ctx: AlertingContext, input: unknown): Promise<unknown>
  /** Updates many with a few statements. @throws DomainError for the first that is refused. Absent: they are few. */
  updateMany?(ctx: AlertingContext, inputs: readonly unknown[]): Promise<void>
  delete(ctx: AlertingContext, id: string): Promise<unknown>
}

/** By section. */
export const operations: Readonly<Record<Section, Operations>> = {
  groups: { create: createServiceGroup, update: updateServiceGroup, delete: deleteServiceGroup },
  services: {
    create: createService,
    createMany: createServices,
    update: updateService,
    updateMany: updateServices,
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

/** What is known while a file is applied. */
export interface Run extends Request {
  readonly ctx: AlertingContext
  readonly organizationId: string
  readonly before: ReadonlyMap<string, Existing>
  /** The rows of managed objects by section and key, with moved keys replaced. */
  readonly managed: ReadonlyMap<string, ManagedObject>
  readonly keys: Keys
  readonly digest: Digest
  readonly issues: Issue[]
  /** How many operations have run: without any, what exists is as it was. */
  readonly operations: { count: number }
}

/** An object that is not as the file says. */
interface Work {
  readonly key: string
  readonly early: Members
  readonly late: Members
}

/** Creates and updates the objects of a section. Notes what is refused. */
export async function applySection(current: Run, section: Section): Promise<void> {
  const work = await workOf(current, section)
  const isNew = ({ key }: Work) => current.keys.idOf(section, key) === undefined
  const together = operations[section].createMany ? work.filter(isNew) : []
  const made = new Set(await createTogether(current, section, together))
  const known = work.filter((each) => !together.includes(each))
  const isWritten = new Set([...together, ...(await updateTogether(current, section, known, made))])
  for (const each of work) {
    if (current.issues.length >= MAX_ISSUES) return
    if (isWritten.has(each)) continue
    if (await applyObject(current, section, each.key, each.early)) made.add(each)
  }
  for (const each of work) {
    if (made.has(each) && Object.keys(each.late).length > 0) await applyObject(current, section, each.key, each.late)
  }
}

/** Returns the objects of a section that are not known to be as the file says. */
async function workOf(current: Run, section: Section): Promise<Work[]> {
  const work: Work[] = []
  for (const [key, members] of current.configuration.objects[section]) {
    await yieldAfterTimeSlice(current.organizationId)
    const row = current.managed.get(`${section}.${key}`)
    if (row !== undefined && row.file !== current.file) {
      current.issues.push({ path: [section, key], message: `is managed by ${row.file}` })
    } else if (!isApplied(current, section, key, members)) {
      const part = (isLate: boolean) =>
        Object.fromEntries(Object.entries(members).filter(([name]) => lateMembers.has(name) === isLate))
      work.push({ key, early: part(false), late: part(true) })
    }
  }
  return work
}

/** Returns whether an object is known to be as the file says: it need not be compared by applying it. */
function isApplied({ keys, before, managed, digest }: Run, section: Section, key: string, members: Members): boolean {
  const id = keys.idOf(section, key)
  const existing = id === undefined ? undefined : before.get(id)
  if (existing === undefined) return false
  const row = managed.get(`${section}.${key}`)
  if (row?.given === digest(members)) {
    const fields = row.fields as Readonly<Record<string, string>>
    return Object.entries(fields).every(([name, hash]) => digest(existing.members[name] ?? null) === hash)
  }
  const written = withReferences(existing.members, (_section, reference) => keys.keyOf(reference))
  const plain = (name: string, value: unknown) => withoutDefaultOptions(name, withSecrets(value, null))
  return Object.entries(members).every(([name, value]) =>
    isDeepStrictEqual(plain(name, value), plain(name, written[name])),
  )
}

/** Creates objects with a few statements for all. Notes why some are refused. Returns the others. */
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
    if (outcome instanceof DomainError) {
      if (issues.length < MAX_ISSUES) issues.push(...issuesOf(outcome, [section, each.key]))
      return []
    }
    keys.set(section, each.key, outcome.id)
    return [each]
  })
}

/**
 * Updates objects with a few statements for all, and adds them to those that are made. Where each refusal is undone alone, each is
 * updated alone. Returns what is done.
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

/** Returns members as the input of an operation. Null: they refer to what there is not, which is noted. */
function inputOf(current: Run, section: Section, key: string, members: Members): Record<string, unknown> | null {
  const { issues } = current
  const count = issues.length
  const refused = new Set<string>()
  const resolved = withReferences(members, (to, reference, path) => {
    const id = idOfReference(current, to, reference)
    if (id !== undefined) return id
    // What was refused is said once: without these members, other problems show.
    if (current.configuration.objects[to].has(reference)) refused.add(path[0] ?? '')
    else issues.push({ path: [section, key, ...path], message: `must be a key of ${to}; there is no ${reference}` })
    return ''
  })
  if (issues.length > count) return null
  return asInput(Object.fromEntries(Object.entries(resolved).filter(([name]) => !refused.has(name))))
}

/** Creates or updates an object. Notes why it is refused. Returns whether it was not. */
async function applyObject(current: Run, section: Section, key: string, members: Members): Promise<boolean> {
  const { ctx, keys, issues } = current
  const count = issues.length
  const input = inputOf(current, section, key, members)
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

/** Returns the id for a key: of the file, or of what the file does not remove. */
function idOfReference({ configuration, managed, file, keys }: Run, section: Section, key: string) {
  const isLeaving = managed.get(`${section}.${key}`)?.file === file && !configuration.objects[section].has(key)
  return isLeaving ? undefined : keys.idOf(section, key)
}

/** Returns a refusal as issues below a path of the file. */
export function issuesOf(error: DomainError, path: readonly string[]): Issue[] {
  const own = error instanceof Invalid ? error.issues : []
  if (own.length === 0) return [{ path, message: error.message }]
  return own.map((issue) => ({ path: [...path, ...memberPath(issue.path)], message: issue.message }))
}
