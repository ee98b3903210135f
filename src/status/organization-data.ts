import type { OrganizationData } from '../account/organization/organization-data.ts'

/** What is erased of incidents and maintenance with their organization. */
export const statusData: OrganizationData = {
  erased: [
    { table: 'IncidentFile' },
    { table: 'IncidentUpdate' },
    { table: 'MaintenanceUpdate' },
    { table: 'Incident' },
    { table: 'Maintenance' },
  ],
}
