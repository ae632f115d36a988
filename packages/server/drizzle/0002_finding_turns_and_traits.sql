CREATE TABLE `host_traits` (
	`host_id` text NOT NULL,
	`key` text NOT NULL,
	`value` text NOT NULL,
	PRIMARY KEY(`host_id`, `key`)
);
--> statement-breakpoint
CREATE INDEX `host_traits_key_value` ON `host_traits` (`key`,`value`);--> statement-breakpoint
ALTER TABLE `findings` ADD `opened_at_ms` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `findings` ADD `turns` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `hosts` ADD `variant` text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX `hosts_variant` ON `hosts` (`variant`);--> statement-breakpoint
UPDATE `findings` SET `opened_at_ms` = `first_seen_at_ms`, `turns` = json_array(json_object('atMs', `first_seen_at_ms`, 'turn', 'opened', 'severity', `severity`));--> statement-breakpoint
UPDATE `hosts` SET `class` = json_set(`class`, '$.toolkitVersion', json('null'), '$.os', json('null'), '$.l4t', json('null'));--> statement-breakpoint
INSERT INTO `host_traits` (`host_id`, `key`, `value`)
SELECT `id`, trait.column1, json_extract(`class`, trait.column2) FROM `hosts` JOIN (VALUES ('gpu', '$.gpuModel'), ('driver', '$.driverVersion'), ('branch', '$.driverBranch'), ('runtime', '$.runtime'), ('mig', '$.mig'), ('platform', '$.platform'), ('role', '$.kubernetesRole')) AS trait
WHERE json_extract(`class`, trait.column2) IS NOT NULL;
