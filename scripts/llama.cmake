# Read by llama.cpp's build right after its `project()`, by CMAKE_PROJECT_INCLUDE in
# .cargo/config.toml. It leaves out what Plenary does not call, and spends no time on
# making code fast that runs once for each model.

# A third of the build: chat parsers, an HTTP client, a command line. The feature of the
# crate that asks for it cannot be switched off from here.
set(LLAMA_BUILD_COMMON OFF CACHE BOOL "" FORCE)

# What runs for every token keeps the optimisation of a release.
set(hot
    llama-batch llama-context llama-grammar llama-graph llama-kv-cache llama-kv-cache-iswa
    llama-memory-hybrid llama-memory-recurrent llama-sampler llama-vocab unicode)

function(optimise_little)
    if(NOT TARGET llama OR MSVC)
        return()
    endif()
    target_compile_options(llama PRIVATE $<$<CONFIG:Release>:-O1>)
    get_target_property(folder llama SOURCE_DIR)
    foreach(name IN LISTS ARGN)
        set_source_files_properties("${folder}/${name}.cpp" TARGET_DIRECTORY llama
            PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O3>")
    endforeach()
endfunction()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_VERSION VERSION_LESS 3.21)
    cmake_language(EVAL CODE "cmake_language(DEFER CALL optimise_little ${hot})")
endif()
