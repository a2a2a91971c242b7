export const channelsPath = '/api/v1/live-activity-channels'
