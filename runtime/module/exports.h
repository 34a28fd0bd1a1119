// One function per part of the Python module; module.cpp calls them all.
#pragma once

namespace tagalong {

// The rewriter's functions, its Hooks and its RewriteError, all with the prefix `rewriter_`; the public face is
// tagalong/rewriter.py.
void export_rewriter();

// _UfuncSite: one array kernel site, for the tests of the kernels.
void export_arrays();

// trace, record, stats and the other functions of the engine.
void export_engine();

// specialize and its companions, the types of guards, and the table of the C API.
void export_specialize();

}  // namespace tagalong
