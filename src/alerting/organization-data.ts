import type { OrganizationData } from '../account/organization/organization-data.ts'

/** What is erased of alerts with their organization. */
export const alertingData: OrganizationData = { erased: [{ table: 'AlertDelivery' }, { table: 'Alert' }] }
