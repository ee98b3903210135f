import type { ObjectFields } from '../../src/configuration/format.ts'
import type { Section } from '../../src/configuration/sections.ts'
import { sections } from '../../src/configuration/sections.ts'
import type { Drafted } from '../../src/import/translation.ts'

type Plain = Partial<Record<Section, Record<string, ObjectFields>>> & { readonly notes: readonly string[] }

/** Returns a translation as plain objects, without sections that have none, and its notes as texts. */
export function plainOf({ objects, notes }: Pick<Drafted, 'objects' | 'notes'>): Plain {
  const filled = sections.filter((section) => objects[section].size > 0)
  return {
    ...Object.fromEntries(filled.map((section) => [section, Object.fromEntries(objects[section])])),
    notes: notes.map(({ outcome, section, name, reason }) => `${outcome} ${section} ${name}: ${reason}`),
  }
}
