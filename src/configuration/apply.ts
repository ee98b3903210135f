import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { createAlertChannel, deleteAlertChannel, updateAlertChannel } from '../alerting/channel.ts'
import type { AlertingContext } from '../alerting/context.ts'
import { requireScope } from '../core/access.ts'
import { Conflict, DomainError, Invalid, type Issue } from '../core/errors.ts'
import { SECOND } from '../core/time.ts'
import { invalid, lineText, validate } from '../core/validation.ts'
import { change } from '../event-log/change.ts'
import type { ManagedObject } from '../generated/prisma/client.ts'
import { createMonitor, deleteMonitor, updateMonitor } from '../monitoring/monitor.ts'
import { createPage, deletePage, updatePage } from '../status/page.ts'
import { createService, deleteService, updateService } from '../status/service.ts'
import { createServiceGroup, deleteServiceGroup, updateServiceGroup } from '../status/service-group.ts'
import type { Digest, Existing } from './current.ts'
import { createDigest, readExisting } from './current.ts'
import { withoutDefaultOptions } from './defaults.ts'
import { readDrift } from './drift.ts'
import type { Configuration, Members } from './format.ts'
import { DEFAULT_FILE, MAX_FILE_LENGTH, readConfiguration, readVariables, withLines } from './format.ts'
import { assignKeys, type Keys } from './keys.ts'
import { asInput, lateMembers, memberPath, withReferences, withSecrets } from './members.ts'
import type { Applied, Plan } from './plan.ts'
import { comparePlan } from './plan.ts'
import type { Section } from './sections.ts'
import { sections } from './sections.ts'
import { readYamlText } from './yaml-thread.ts'

/** How many objects a file may delete, unless it is told. */
export const DEFAULT_DELETIONS = 10

const planInput = z.object({
  yaml: z.string().max(MAX_FILE_LENGTH, `must have at most ${MAX_FILE_LENGTH} characters`),
  variables: z.unknown().optional(),
  file: lineText(200).nullish(),
  delete: z.boolean().nullish(),
})
const applyInput = planInput.extend({
  planHash: z.string().max(100),
  maxDeletions: z.int().min(0).nullish(),
})

/** After so many problems, no more are looked for. */
const MAX_ISSUES = 100
/** The time limit of the transaction: the largest file creates 2,000 objects. */
const TIMEOUT_MS = 60 * SECOND

interface Request {
  readonly configuration: Configuration
  readonly lines: ReadonlyMap<string, number>
  readonly file: string
  readonly deletes: boolean
}

/**
 * Returns what applying a file would do. It applies the file and rolls back, so that a plan knows all limits and refusals.
 * Requires a key with scope ADMIN.
 * @throws Invalid with the line of each problem.
 */
export async function planConfiguration(ctx: AlertingContext, input: unknown): Promise<Plan> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const request = await readRequest(organizationId, validate(planInput, input))
  try {
    await change(
      ctx,
      organizationId,
      async (tx) => {
        throw new Planned((await run({ ...ctx, ...tx }, organizationId, request)).plan)
      },
      TIMEOUT_MS,
    )
  } catch (error) {
    if (error instanceof Planned) return error.plan
    throw error
  }
  throw new Error('A plan was committed.')
}

/**
 * Applies a file in one transaction, if it does what the plan with `planHash` says. Requires a key with scope ADMIN.
 * @throws Invalid with the line of each problem, and Conflict when it would now do something else, or delete more than it may.
 */
export async function applyConfiguration(ctx: AlertingContext, input: unknown): Promise<Plan> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const { planHash, maxDeletions, ...given } = validate(applyInput, input)
  const request = await readRequest(organizationId, given)
  return change(
    ctx,
    organizationId,
    async (tx) => {
      const own = { ...ctx, ...tx }
      const { plan, rows } = await run(own, organizationId, request)
      if (plan.hash !== planHash)
        throw new Conflict('Something has changed since this plan was made. Plan again, and apply that.')
      const deletions = plan.changes.filter(({ action }) => action === 'DELETE').length
      const limit = maxDeletions ?? DEFAULT_DELETIONS
      if (deletions > limit)
        throw new Conflict(`This deletes ${deletions} objects. Allow it by raising maxDeletions, which is ${limit}.`)
      await own.db.managedObject.deleteMany({ where: { organizationId, file: request.file } })
      await own.db.managedObject.createMany({ data: rows })
      return [plan]
    },
    TIMEOUT_MS,
  )
}

/** Rolls back, and carries the plan. */
class Planned extends Error {
  readonly plan: Plan

  constructor(plan: Plan) {
    super('This was a plan.')
    this.plan = plan
  }
}

async function readRequest(organizationId: string, given: z.output<typeof planInput>): Promise<Request> {
  const values = readVariables(given.variables)
  const read = await readYamlText(given.yaml, organizationId)
  const configuration = readConfiguration(read, values)
  return { configuration, lines: read.lines, file: given.file ?? DEFAULT_FILE, deletes: given.delete ?? false }
}

/** The operations on the objects of a section. */
interface Operations {
  create(ctx: AlertingContext, input: unknown): Promise<{ readonly id: string }>
  update(ctx: AlertingContext, input: unknown): Promise<unknown>
  delete(ctx: AlertingContext, id: string): Promise<unknown>
}

const operations: Readonly<Record<Section, Operations>> = {
  groups: { create: createServiceGroup, update: updateServiceGroup, delete: deleteServiceGroup },
  services: { create: createService, update: updateService, delete: deleteService },
  monitors: { create: createMonitor, update: updateMonitor, delete: deleteMonitor },
  pages: { create: createPage, update: updatePage, delete: deletePage },
  channels: { create: createAlertChannel, update: updateAlertChannel, delete: deleteAlertChannel },
}

/** What is known while a file is applied. */
interface Run extends Request {
  readonly ctx: AlertingContext
  readonly before: ReadonlyMap<string, Existing>
  /** The rows of managed objects by section and key, with moved keys replaced. */
  readonly managed: ReadonlyMap<string, ManagedObject>
  readonly keys: Keys
  readonly digest: Digest
  readonly issues: Issue[]
  /** How many operations have run: without any, what exists is as it was. */
  readonly operations: { count: number }
}

/** Applies a file, in the transaction of a change. @throws Invalid with all problems of all objects. */
async function run(ctx: AlertingContext, organizationId: string, request: Request) {
  const digest = createDigest(ctx.seal, organizationId)
  const before = await readExisting(ctx, organizationId, digest)
  const stored = await ctx.db.managedObject.findMany({
    where: { organizationId },
    orderBy: [{ section: 'asc' }, { key: 'asc' }],
  })
  const rows = withMoves(stored, request)
  const keys = assignKeys(before, rows)
  const managed = new Map(rows.map((row) => [`${row.section}.${row.key}`, row]))
  const byId = new Map(before.map((each) => [each.id, each]))
  const current: Run = { ...request, ctx, before: byId, managed, keys, digest, issues: [], operations: { count: 0 } }
  const drift = await readDrift(
    ctx,
    organizationId,
    rows.filter(({ file }) => file === request.file),
    byId,
    digest,
  )
  for (const section of sections) await applySection(current, section)
  const removed = await applyRemovals(current, rows)
  if (current.issues.length > 0) throw invalid(withLines(current.issues, request.lines))
  const after = current.operations.count === 0 ? before : await readExisting(ctx, organizationId, digest)
  const applied = [...named(current), ...removed]
  const plan = comparePlan({ before, after, applied, drift, keys, digest })
  return { plan, rows: await rowsOf(current, organizationId, after) }
}

/** Returns the rows of managed objects with the keys that this file has moved. */
function withMoves(rows: readonly ManagedObject[], { configuration: { moved }, file }: Request): ManagedObject[] {
  const taken = new Set(rows.map(({ section, key }) => `${section}.${key}`))
  return rows.map((row) => {
    const move = moved.find(({ section, from }) => section === row.section && from === row.key)
    if (move === undefined || row.file !== file || taken.has(`${move.section}.${move.to}`)) return row
    return { ...row, key: move.to }
  })
}

async function applySection(current: Run, section: Section): Promise<void> {
  const late: (readonly [key: string, members: Members])[] = []
  for (const [key, members] of current.configuration.objects[section]) {
    if (current.issues.length >= MAX_ISSUES) return
    const row = current.managed.get(`${section}.${key}`)
    if (row !== undefined && row.file !== current.file) {
      current.issues.push({ path: [section, key], message: `is managed by ${row.file}` })
      continue
    }
    if (isApplied(current, section, key, members)) continue
    const early = Object.entries(members).filter(([name]) => !lateMembers.has(name))
    const isMade = await applyObject(current, section, key, Object.fromEntries(early))
    const rest = Object.entries(members).filter(([name]) => lateMembers.has(name))
    if (isMade && rest.length > 0) late.push([key, Object.fromEntries(rest)])
  }
  for (const [key, members] of late) await applyObject(current, section, key, members)
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

/** Creates or updates an object. Notes why it is refused. Returns whether it was not. */
async function applyObject(current: Run, section: Section, key: string, members: Members): Promise<boolean> {
  const { ctx, keys, issues } = current
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
  if (issues.length > count) return false
  const id = keys.idOf(section, key)
  const events = ctx.open?.events.length ?? 0
  await ctx.db.$executeRaw`SAVEPOINT object`
  try {
    const { create, update } = operations[section]
    current.operations.count += 1
    const input = asInput(Object.fromEntries(Object.entries(resolved).filter(([name]) => !refused.has(name))))
    if (id === undefined) keys.set(section, key, (await create(ctx, input)).id)
    else await update(ctx, { id, ...input })
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    await ctx.db.$executeRaw`ROLLBACK TO SAVEPOINT object`
    ctx.open?.events.splice(events)
    issues.push(...issuesOf(error, [section, key]))
  }
  await ctx.db.$executeRaw`RELEASE SAVEPOINT object`
  return issues.length === count
}

/** Returns the id for a key: of the file, or of what the file does not remove. */
function idOfReference({ configuration, managed, file, keys }: Run, section: Section, key: string) {
  const isLeaving = managed.get(`${section}.${key}`)?.file === file && !configuration.objects[section].has(key)
  return isLeaving ? undefined : keys.idOf(section, key)
}

function issuesOf(error: DomainError, path: readonly string[]): Issue[] {
  const own = error instanceof Invalid ? error.issues : []
  if (own.length === 0) return [{ path, message: error.message }]
  return own.map((issue) => ({ path: [...path, ...memberPath(issue.path)], message: issue.message }))
}

/** Deletes what the file no longer names, if it was told to. */
async function applyRemovals(current: Run, rows: readonly ManagedObject[]): Promise<Applied[]> {
  const { ctx, file, deletes, configuration, before, issues } = current
  const order = (section: string) => sections.indexOf(section as Section)
  const removed = rows
    .filter((row) => row.file === file && !configuration.objects[row.section as Section].has(row.key))
    .filter(({ objectId }) => before.has(objectId))
    .sort((one, other) => order(other.section) - order(one.section))
  for (const { section, key, objectId } of deletes ? removed : []) {
    current.operations.count += 1
    try {
      await operations[section as Section].delete(ctx, objectId)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      issues.push(...issuesOf(error, [section, key]))
    }
  }
  return removed.map(({ section, key, objectId: id }) => ({
    section: section as Section,
    key,
    id,
    wasManaged: true,
    isNamed: false,
  }))
}

function named({ configuration, keys, managed }: Run): Applied[] {
  return sections.flatMap((section) =>
    [...configuration.objects[section].keys()].map((key) => ({
      section,
      key,
      id: keys.idOf(section, key) ?? null,
      wasManaged: managed.has(`${section}.${key}`),
      isNamed: true,
    })),
  )
}

/** Returns the rows of all objects of the file, as they are now. */
async function rowsOf(
  { ctx, configuration, file, keys, digest }: Run,
  organizationId: string,
  after: readonly Existing[],
) {
  const { lastSeq } = await ctx.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
  const appliedSeq = lastSeq + (ctx.open?.events.length ?? 0)
  const byId = new Map(after.map((each) => [each.id, each]))
  return sections.flatMap((section) =>
    [...configuration.objects[section]].flatMap(([key, members]) => {
      const existing = byId.get(keys.idOf(section, key) ?? '')
      if (existing === undefined) return []
      const fields = Object.fromEntries(
        Object.keys(members).map((name) => [name, digest(existing.members[name] ?? null)]),
      )
      return [{ organizationId, section, key, file, objectId: existing.id, given: digest(members), fields, appliedSeq }]
    }),
  )
}
