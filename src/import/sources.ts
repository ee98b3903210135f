import { stringify } from 'yaml'
import { escapeText, sections } from '../configuration/sections.ts'
import { translateBetterStack } from './better-stack.ts'
import { translateCachet } from './cachet.ts'
import { translateGatus } from './gatus.ts'
import { translateHetrixTools } from './hetrix-tools.ts'
import { translateInstatus } from './instatus.ts'
import { translateOpenStatus } from './open-status.ts'
import type { Source } from './source-names.ts'
import { translateStatuspage } from './statuspage.ts'
import { type Translation, Unreadable } from './translation.ts'
import { translateUptimeKuma } from './uptime-kuma.ts'
import { translateUptimeKumaDatabase } from './uptime-kuma-database.ts'
import { translateUptimeRobot } from './uptime-robot.ts'

/** What translates the text of each source. */
const translators = {
  'uptime-kuma': translateUptimeKuma,
  gatus: translateGatus,
  statuspage: translateStatuspage,
  openstatus: translateOpenStatus,
  cachet: translateCachet,
  uptimerobot: translateUptimeRobot,
  betterstack: translateBetterStack,
  instatus: translateInstatus,
  hetrixtools: translateHetrixTools,
} as const satisfies Record<Source, (text: string) => Translation>

/** Translates the text of a source. @throws Unreadable. */
export function translate(source: Source, text: string): Translation {
  return bounded(translators[source](text))
}

/** Translates a database of Uptime Kuma. @param path of a copy that nobody else uses. @throws Unreadable. */
export function translateDatabase(path: string): Translation {
  return bounded(translateUptimeKumaDatabase(path))
}

/** What a configuration may have. */
const MAX_OBJECTS = 2000
/** Nobody reads more of them. */
const MAX_NOTES = 2000

function bounded(translation: Translation): Translation {
  const count = sections.reduce((sum, section) => sum + translation.objects[section].size, 0)
  if (count > MAX_OBJECTS)
    throw new Unreadable(`This makes ${count} objects, and an organization takes ${MAX_OBJECTS} at once.`)
  return { ...translation, notes: translation.notes.slice(0, MAX_NOTES) }
}

/** Writes a translation as a configuration file, as short as YAML can be: requests have a limit. */
export function writeTranslation({ objects, hasVariables }: Pick<Translation, 'objects' | 'hasVariables'>): string {
  const filled = sections.filter((section) => objects[section].size > 0)
  const parts = filled.map((section) => [section, Object.fromEntries(objects[section])] as const)
  const value = { allclear: 1, ...Object.fromEntries(parts) }
  return stringify(hasVariables ? value : escaped(value), {
    collectionStyle: 'flow',
    flowCollectionPadding: false,
    lineWidth: 0,
    aliasDuplicateObjects: false,
  })
}

function escaped(value: unknown): unknown {
  if (typeof value === 'string') return escapeText(value)
  if (Array.isArray(value)) return value.map(escaped)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, escaped(member)]))
}
