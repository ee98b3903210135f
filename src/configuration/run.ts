import { readManagedObjects } from '../account/managed-object.ts'
import { readOrganization } from '../account/organization/organization-queries.ts'
import type { AlertingContext } from '../alerting/context.ts'
import { yieldAfterTimeSlice } from '../core/concurrency/time-slice.ts'
import { DomainError } from '../core/errors.ts'
import { invalid } from '../core/validation.ts'
import type { ManagedObject } from '../generated/prisma/client.ts'
import type { Existing } from './current.ts'
import { createDigest, readExisting } from './current.ts'
import { readDrift } from './drift.ts'
import { isKept } from './fields.ts'
import { withLines } from './format.ts'
import { assignKeys } from './keys.ts'
import { applySection, issuesOf, operations, type Request, type Run } from './objects.ts'
import type { Applied } from './plan.ts'
import { comparePlan } from './plan.ts'
import type { Move, Section } from './sections.ts'
import { sections } from './sections.ts'

/** Applies a file within the transaction of a change. @throws Invalid with the problems of all objects. */
export async function run(given: AlertingContext, organizationId: string, request: Request) {
  const ctx: AlertingContext = { ...given, appliesFile: true }
  const digest = createDigest(ctx.seal, organizationId)
  const before = await readExisting(ctx, organizationId, digest)
  const stored = await readManagedObjects(ctx, organizationId)
  const moved = movesOf(stored, request)
  const rows = stored.map((row) => {
    const move = moved.find(({ section, from }) => section === row.section && from === row.key)
    return move === undefined ? row : { ...row, key: move.to }
  })
  const keys = assignKeys(before, rows)
  const managed = new Map(rows.map((row) => [`${row.section}.${row.key}`, row]))
  const byId = new Map(before.map((each) => [each.id, each]))
  const current: Run = {
    ...request,
    ctx,
    organizationId,
    before: byId,
    managed,
    keys,
    digest,
    issues: [],
    operations: { count: 0 },
  }
  const drift = await readDrift(
    ctx,
    organizationId,
    rows.filter((row) => row.file === request.file && (!request.keepsAbsent || isNamed(request, row))),
    byId,
    digest,
  )
  for (const section of sections) await applySection(current, section)
  const removed = await applyRemovals(current, rows)
  if (current.issues.length > 0) throw invalid(withLines(current.issues, request.lines))
  const after = current.operations.count === 0 ? before : await readExisting(ctx, organizationId, digest)
  const applied = [...named(current), ...removed]
  const managedBefore = rows.filter(({ file, objectId }) => file === request.file && byId.has(objectId)).length
  const states = { before, after, applied, managed: managedBefore, drift, moved, keys, digest }
  const plan = await comparePlan(organizationId, states)
  return { plan, rows: await rowsOf(current, organizationId, after) }
}

/** Returns the moves that take effect: those of objects that the file manages, to keys that are free. */
function movesOf(rows: readonly ManagedObject[], { configuration: { moved }, file }: Request): readonly Move[] {
  const taken = new Map(rows.map((row) => [`${row.section}.${row.key}`, row.file]))
  return moved.filter(
    ({ section, from, to }) => taken.get(`${section}.${from}`) === file && !taken.has(`${section}.${to}`),
  )
}

/** Returns whether a file names an object that it manages. */
const isNamed = ({ configuration }: Pick<Request, 'configuration'>, { section, key }: ManagedObject) =>
  configuration.objects[section as Section].has(key)

/** Returns the objects that the file no longer names, and deletes them if the request asks for it. */
async function applyRemovals(current: Run, rows: readonly ManagedObject[]): Promise<Applied[]> {
  const { ctx, file, deletes, keepsAbsent, before, issues } = current
  if (keepsAbsent) return []
  const order = (section: string) => sections.indexOf(section as Section)
  const removed = rows
    .filter((row) => row.file === file && !isNamed(current, row))
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

/** Returns the current rows of all objects of the file. */
async function rowsOf(
  { ctx, configuration, file, keys, digest }: Run,
  organizationId: string,
  after: readonly Existing[],
) {
  const { lastSeq } = await readOrganization(ctx, organizationId)
  const appliedSeq = lastSeq + (ctx.open?.events.length ?? 0)
  const byId = new Map(after.map((each) => [each.id, each]))
  const rows = []
  for (const section of sections) {
    for (const [key, given] of configuration.objects[section]) {
      await yieldAfterTimeSlice(organizationId)
      const existing = byId.get(keys.idOf(section, key) ?? '')
      if (existing === undefined) continue
      const kept = Object.keys(given).filter((name) => isKept(section, name))
      const fields = Object.fromEntries(kept.map((name) => [name, digest(existing.fields[name] ?? null)]))
      const applied = { objectId: existing.id, given: digest(given), fields, appliedSeq }
      rows.push({ organizationId, section, key, file, ...applied })
    }
  }
  return rows
}
