import type { ObjectFields } from '../configuration/format.ts'
import type { Section } from '../configuration/sections.ts'
import { sections } from '../configuration/sections.ts'
import type { Note, Objects } from './translation.ts'

/** A refusal by the service. Its path starts with section and key. */
export interface Refusal {
  readonly path: readonly string[]
  readonly message: string
}

/**
 * Removes refused objects and their dependents: references to them, services that lose their last monitor, and channels and pages
 * that lose their last reference, because an empty list would mean all. A refused interval falls back to the default. Null if a
 * refusal concerns no object.
 */
export function withoutRefused(
  objects: Objects,
  refusals: readonly Refusal[],
): { readonly objects: Objects; readonly notes: readonly Note[] } | null {
  const left = copyOf(objects)
  const notes: Note[] = []
  const remove: Remove = (section, key, reason) => {
    const fields = left[section].get(key)
    if (fields === undefined) return
    left[section].delete(key)
    notes.push({ outcome: 'SKIPPED', section, name: String(fields['name'] ?? key), reason })
  }
  for (const { path, message } of refusals) {
    const section = sections.find((each) => each === path[0])
    const [, key = '', ...field] = path
    if (section === undefined || !objects[section].has(key)) return null
    const fields = left[section].get(key)
    if (field[0] === 'intervalSeconds' && fields?.['intervalSeconds'] !== undefined) {
      const { intervalSeconds: _, ...rest } = fields
      left[section].set(key, rest)
      const reason = `It gets the default interval, because its own ${message}.`
      notes.push({ outcome: 'PARTLY', section, name: String(fields['name']), reason })
    } else remove(section, key, [field.join('.'), message].filter((each) => each !== '').join(' '))
  }
  removeIdleServices(objects, left, remove)
  removeReferences(left, remove)
  return { objects: left, notes }
}

type Remove = (section: Section, key: string, reason: string) => void

function removeReferences(left: Objects, remove: Remove): void {
  for (const section of ['monitors', 'channels', 'pages'] as const) {
    for (const [key, fields] of left[section]) {
      const kept = withoutReferences(fields, left)
      if (kept === null) remove(section, key, 'None of its monitors or services is imported.')
      else left[section].set(key, kept)
    }
  }
  for (const [key, { group, ...rest }] of left.services) {
    if (typeof group === 'string' && !left.groups.has(group)) left.services.set(key, rest)
  }
}

function copyOf(objects: Objects): Objects {
  return Object.fromEntries(sections.map((section) => [section, new Map(objects[section])])) as unknown as Objects
}

function removeIdleServices(before: Objects, left: Objects, remove: Remove): void {
  const watched = (objects: Objects) => new Set([...objects.monitors.values()].map(({ service }) => service))
  const still = watched(left)
  for (const service of watched(before)) {
    if (typeof service === 'string' && !still.has(service))
      remove('services', service, 'None of its monitors is imported.')
  }
}

/** Removes references to missing objects. Null if a list becomes empty. */
function withoutReferences(fields: ObjectFields, left: Objects): ObjectFields | null {
  const { service, monitors, services, ...rest } = fields
  const keep = (section: Section, keys: unknown) => (keys as readonly string[]).filter((key) => left[section].has(key))
  const lists = {
    ...(Array.isArray(monitors) && { monitors: keep('monitors', monitors) }),
    ...(Array.isArray(services) && { services: keep('services', services) }),
  }
  if (Object.values(lists).some((list) => list.length === 0)) return null
  const hasService = typeof service === 'string' && left.services.has(service)
  return { ...rest, ...(hasService && { service }), ...lists }
}
