import { Prisma } from '../generated/prisma/client.ts'

// What other rooms may read of organizations, pages and keys, as tables for their statements: `FROM ${organizations} AS
// owner`. PostgreSQL merges these queries into the statement, so they cost nothing.

/** Organizations. Not their contact address, nor the due times of work on them. */
export const organizations = Prisma.sql`(
  SELECT id, slug, "pageId", name, description, "accentColor", "logoUrl", links, "timeZone", tier, "checkPlan", "checkPlanUntil",
    languages, "defaultLanguage", "uptimeSource", "lastSeq", "pushChannelAt", version, "createdAt", "deletedAt" FROM "Organization")`

/** Pages, with what overrides their organization. */
export const pages = Prisma.sql`(
  SELECT id, "organizationId", slug, "isFirst", name, description, "accentColor", "logoUrl", links, "uptimeSource",
    "allServices", "customDomain", "embedOrigins", "publishesReports", "reportedMonth", version, "createdAt" FROM "Page")`

/** The services that pages show, unless they show all. */
export const pageServices = Prisma.sql`(SELECT "pageId", "serviceId", position FROM "PageService")`

/** Who can read pages. A page without a row is public. Not their passwords. */
export const pageAccesses = Prisma.sql`(
  SELECT "pageId", "organizationId", kind, "mailDomains", ranges, generation, "changedAt" FROM "PageAccess")`

/** API keys, without their hashes. */
export const apiKeys = Prisma.sql`(SELECT id, "organizationId", name, "createdById", "revokedAt" FROM "ApiKey")`

/** The objects that configuration files manage. */
export const managedObjects = Prisma.sql`(
  SELECT "organizationId", section, key, "objectId", file FROM "ManagedObject")`

/** The condition of Prisma on rows of organizations that are not deleted. */
export const ofLiveOrganization = { organization: { deletedAt: null } } as const

/** The selection of Prisma that adds the organization of a row. */
export const withOrganization = { organization: true } as const

/** The selection of Prisma that adds the tier of the organization of a row. */
export const withTier = { organization: { select: { tier: true } } } as const

/** The selection of Prisma that adds what names the organization of a row. */
export const withOrganizationName = {
  organization: { select: { id: true, name: true, slug: true, timeZone: true } },
} as const

/** The selection of Prisma that adds the slugs of the page and the organization of a row. */
export const withPageSlug = { page: { select: { slug: true } }, organization: { select: { slug: true } } } as const

/** The selection of Prisma that adds whether the page of a row publishes its reports. */
export const withReportSetting = { page: { select: { publishesReports: true } } } as const
