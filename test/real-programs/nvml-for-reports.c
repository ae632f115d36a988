/*
 * What nvidia-smi asks for its table and for -q beyond the calls that the stand-in for NVML answers. It prints neither
 * without event sets, and no MIG device without attributes, memory window and error counts of its own.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#define dlsym stand_in_dlsym
#include "nvml-stand-in.c"
#undef dlsym

static nvmlReturn_t create_event_set(nvmlEventSet_t *set)
{
	*set = (nvmlEventSet_t)0x40000L;
	return NVML_SUCCESS;
}

static nvmlReturn_t succeed(void)
{
	return NVML_SUCCESS;
}

static nvmlDevice_t gpu_of(nvmlDevice_t device)
{
	return (nvmlDevice_t)(0x1000L + ((long)device & 0xf));
}

/* The number that `-L` gives a MIG device. */
static nvmlReturn_t device_index(nvmlDevice_t device, unsigned *index)
{
	nvmlDevice_t listed;

	if (!ismig(device))
		return gidx(device, index);
	for (*index = 0; migdev(gpu_of(device), *index, &listed) == NVML_SUCCESS; *index += 1)
		if (listed == device)
			return NVML_SUCCESS;
	return NVML_ERROR_NOT_FOUND;
}

/* The profile of the GPU instance that a MIG device is in. */
static nvmlReturn_t profile_of(nvmlDevice_t device, nvmlGpuInstanceProfileInfo_t *profile)
{
	nvmlGpuInstance_t instance;
	nvmlGpuInstanceInfo_t info;
	unsigned id;

	if (giid(device, &id) != NVML_SUCCESS || gibyid(gpu_of(device), id, &instance) != NVML_SUCCESS)
		return NVML_ERROR_NOT_SUPPORTED;
	giinfo(instance, &info);
	return gpinfo(gpu_of(device), P[idx_id(info.profileId)].e, profile);
}

static nvmlReturn_t device_attributes(nvmlDevice_t device, nvmlDeviceAttributes_t *attributes)
{
	nvmlGpuInstanceProfileInfo_t profile;

	if (profile_of(device, &profile) != NVML_SUCCESS)
		return NVML_ERROR_NOT_SUPPORTED;
	memset(attributes, 0, sizeof *attributes);
	attributes->multiprocessorCount = profile.multiprocessorCount;
	attributes->sharedCopyEngineCount = profile.copyEngineCount;
	attributes->sharedDecoderCount = profile.decoderCount;
	attributes->sharedEncoderCount = profile.encoderCount;
	attributes->sharedJpegCount = profile.jpegCount;
	attributes->sharedOfaCount = profile.ofaCount;
	attributes->gpuInstanceSliceCount = profile.sliceCount;
	attributes->computeInstanceSliceCount = profile.sliceCount;
	attributes->memorySizeMB = profile.memorySizeMB;
	return NVML_SUCCESS;
}

static nvmlReturn_t memory_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
	nvmlGpuInstanceProfileInfo_t profile;

	if (profile_of(device, &profile) != NVML_SUCCESS)
		return mem2(device, memory);
	memory->total = profile.memorySizeMB << 20;
	memory->reserved = 0;
	memory->used = 1ULL << 20;
	memory->free = memory->total - memory->used;
	return NVML_SUCCESS;
}

static nvmlReturn_t bar1_memory(nvmlDevice_t device, nvmlBAR1Memory_t *memory)
{
	memory->bar1Total = 32ULL << 30;
	memory->bar1Used = 1ULL << 20;
	memory->bar1Free = memory->bar1Total - memory->bar1Used;
	return NVML_SUCCESS;
}

static nvmlReturn_t memory_errors(nvmlDevice_t device, nvmlMemoryErrorType_t type, nvmlEccCounterType_t counter,
				  nvmlMemoryLocation_t location, unsigned long long *count)
{
	*count = 0;
	return NVML_SUCCESS;
}

static const struct {
	const char *name;
	void *answer;
} answers[] = {
	{ "nvmlEventSetCreate", create_event_set },
	{ "nvmlEventSetFree", succeed },
	{ "nvmlDeviceRegisterEvents", succeed },
	{ "nvmlDeviceGetIndex", device_index },
	{ "nvmlDeviceGetAttributes", device_attributes },
	{ "nvmlDeviceGetAttributes_v2", device_attributes },
	{ "nvmlDeviceGetMemoryInfo_v2", memory_v2 },
	{ "nvmlDeviceGetBAR1MemoryInfo", bar1_memory },
	{ "nvmlDeviceGetMemoryErrorCounter", memory_errors },
};

void *dlsym(void *handle, const char *name)
{
	for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
		if (!strcmp(answers[i].name, name))
			return answers[i].answer;
	return stand_in_dlsym(handle, name);
}
