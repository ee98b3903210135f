import type { AlertingContext } from '../alerting/context.ts'
import { DomainError } from '../core/errors.ts'
import { yieldAfterTimeSlice } from '../core/time-slice.ts'
import { invalid } from '../core/validation.ts'
import type { ManagedObject } from '../generated/prisma/client.ts'
import type { Existing } from './current.ts'
import { createDigest, readExisting } from './current.ts'
import { readDrift } from './drift.ts'
import { withLines } from './format.ts'
import { assignKeys } from './keys.ts'
import { applySection, issuesOf, operations, type Request, type Run } from './objects.ts'
import type { Applied } from './plan.ts'
import { comparePlan } from './plan.ts'
import type { Section } from './sections.ts'
import { sections } from './sections.ts'

/** Applies a file, in the transaction of a change. @throws Invalid with all problems of all objects. */
export async function run(given: AlertingContext, organizationId: string, request: Request) {
  const ctx: AlertingContext = { ...given, appliesFile: true }
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
    rows.filter(({ file }) => file === request.file),
    byId,
    digest,
  )
  for (const section of sections) await applySection(current, section)
  const removed = await applyRemovals(current, rows)
  if (current.issues.length > 0) throw invalid(withLines(current.issues, request.lines))
  const after = current.operations.count === 0 ? before : await readExisting(ctx, organizationId, digest)
  const applied = [...named(current), ...removed]
  const plan = await comparePlan(organizationId, { before, after, applied, drift, keys, digest })
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
  const rows = []
  for (const section of sections) {
    for (const [key, members] of configuration.objects[section]) {
      await yieldAfterTimeSlice(organizationId)
      const existing = byId.get(keys.idOf(section, key) ?? '')
      if (existing === undefined) continue
      const fields = Object.fromEntries(
        Object.keys(members).map((name) => [name, digest(existing.members[name] ?? null)]),
      )
      const applied = { objectId: existing.id, given: digest(members), fields, appliedSeq }
      rows.push({ organizationId, section, key, file, ...applied })
    }
  }
  return rows
}
