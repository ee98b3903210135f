import { z } from 'zod'
import { emailAddress } from '../../core/email-address.ts'
import { hostName } from '../../core/host-name.ts'
import { versionInput } from '../../core/optimistic-lock.ts'
import { parseUrl } from '../../core/url.ts'
import { cappedText, nameText, proseText } from '../../core/validation.ts'
import type { Organization } from '../../generated/prisma/client.ts'
import { UptimeSource } from '../../generated/prisma/enums.ts'
import { languages } from '../../language/catalogue.ts'

/** A link on the public page to another site. */
export interface PageLink {
  readonly label: string
  readonly url: string
}

/** Returns the links of a page. */
export function linksOf({ links }: Pick<Organization, 'links'>): readonly PageLink[] {
  // The column is JSON, and only values that passed the schemas of this file are written to it.
  return links as unknown as PageLink[]
}

/** A slug: the name of an organization or a page in addresses. */
export const slugText = z
  .string()
  .min(2, 'must have at least 2 characters')
  .max(63, { abort: true, error: 'must have at most 63 characters' })
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lowercase letters and digits, separated by single hyphens')

const webAddress = z
  .url({ protocol: /^https?$/, hostname: /./, error: 'must be an address that begins with https:// or http://' })
  .max(2000, 'must have at most 2000 characters')
  .regex(/^[^\p{Cc}\s]*$/u, 'must not contain spaces or control characters')

/** An IANA zone name that this machine knows. Offsets such as +01:00 are refused, because they ignore daylight saving time. */
export const zoneName = cappedText(100).refine(isZoneName, 'must be the name of a time zone, such as Europe/Berlin')

/**
 * Returns whether a logo may have this URL. Its host goes into the page's security policy, where `;` and `*`, which can occur in
 * the host of a URL, have another meaning.
 */
export function isLogoAddress(text: string): boolean {
  const url = parseUrl(text)
  if (url === null) return false
  const { protocol, hostname, username, password } = url
  return protocol === 'https:' && hostName.safeParse(hostname).success && username === '' && password === ''
}

const logoText = cappedText(2000).regex(/^[^\p{Cc}\s]*$/u, 'must not contain spaces or control characters')
const LOGO_RULE = 'must begin with https:// and a host name, such as cdn.example.com'
const logoAddress = logoText.refine(isLogoAddress, LOGO_RULE)

/** The logo of a page. Empty: no logo, even if its organization has one. */
export const pageLogo = logoText.refine((text) => text === '' || isLogoAddress(text), LOGO_RULE)

/** The settings of an organization and its page that an edit can change. Absent fields stay unchanged. */
export const settingsEdit = z.object({
  name: nameText.optional(),
  slug: slugText.optional(),
  contactEmail: emailAddress.optional(),
  timeZone: zoneName.optional(),
  description: proseText(2000).optional(),
  accentColor: z
    .string()
    .regex(/^#[0-9a-f]{6}$/i, 'must be a colour such as #0b6e5a')
    .toLowerCase()
    .optional(),
  logoUrl: logoAddress.nullish(),
  links: z
    .array(z.object({ label: nameText, url: webAddress }))
    .max(10, 'must be at most 10')
    .optional(),
  uptimeSource: z.enum(UptimeSource).optional(),
  languages: z
    .array(z.enum(languages))
    .max(languages.length, `must be at most ${languages.length}`)
    .transform((chosen) => [...new Set(chosen)])
    .optional(),
  defaultLanguage: z.enum(languages).optional(),
  organizationId: z.string().nullish(),
  version: versionInput,
})

/** Returns the valid changes, for the preview that is shown during typing. */
export function validSettings(input: Readonly<Record<string, unknown>>): Partial<z.infer<typeof settingsEdit>> {
  const valid = Object.entries(settingsEdit.shape).flatMap(([name, schema]) => {
    const { success, data } = schema.safeParse(input[name])
    return success && data !== undefined ? [[name, data]] : []
  })
  return Object.fromEntries(valid)
}

function isZoneName(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== null
  } catch {
    return false
  }
}
