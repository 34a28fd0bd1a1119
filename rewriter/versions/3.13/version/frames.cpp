#include "version/frames.h"
