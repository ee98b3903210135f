-- What is open is found without reading what is over.
CREATE INDEX "Incident_organizationId_resolvedAt_idx" ON "Incident"("organizationId", "resolvedAt");
CREATE INDEX "Maintenance_organizationId_status_idx" ON "Maintenance"("organizationId", "status");
